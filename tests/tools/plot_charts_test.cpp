// Bars and lines: heights and positions to the pixel, margins kept, bad input refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tests/tools/plot_support.h"
#include "tools/plot/bars.h"
#include "tools/plot/chart.h"
#include "tools/plot/lines.h"

namespace lookback {
namespace {

using namespace plot;
using test::count;
using test::margin_is_paper;
using test::message_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How many pixels of bar i's middle column have the colour.
int bar_height(const Panel& panel, int i, Rgb color) {
  const CellArea& area = panel.areas[0];
  const int x = area.x + i * area.cell_width + area.cell_width / 2;
  int height = 0;
  for (int y = area.y; y < area.y + area.cell_height; ++y) {
    height += panel.canvas.pixel(x, y) == color ? 1 : 0;
  }
  return height;
}

TEST(Bars, HeightsAreProportional) {
  const Panel panel = draw_bars({.values = {0.25, 0.5, 1.0}, .low = 0.0, .high = 1.0});
  const int full = panel.areas[0].cell_height;
  EXPECT_NEAR(bar_height(panel, 0, series_color(0)), full / 4, 2);
  EXPECT_NEAR(bar_height(panel, 1, series_color(0)), full / 2, 2);
  EXPECT_NEAR(bar_height(panel, 2, series_color(0)), full, 2);
}

TEST(Bars, MaskedNanAndInfinityFillTheirKey) {
  const Panel panel = draw_bars({.values = {0.0, kNan, kInfinity, -kInfinity, 1.0}});
  const int full = panel.areas[0].cell_height;
  EXPECT_EQ(bar_height(panel, 0, palette::masked), full);
  EXPECT_EQ(bar_height(panel, 1, palette::nan), full);
  EXPECT_EQ(bar_height(panel, 2, palette::infinite), full);
  EXPECT_EQ(bar_height(panel, 3, palette::masked), full);
  EXPECT_EQ(bar_height(panel, 4, palette::masked), 0);
}

TEST(Bars, TinyWeightsAreNotMasked) {
  const Panel panel = draw_bars({.values = {1e-30, 1.0}});
  EXPECT_EQ(bar_height(panel, 0, palette::masked), 0);
}

TEST(Bars, NegativeNumbersHangBelowZero) {
  const Panel panel = draw_bars({.values = {-1.0, 1.0}, .low = -1.0, .high = 1.0});
  const CellArea& area = panel.areas[0];
  const int x = area.x + area.cell_width / 2;
  EXPECT_NE(panel.canvas.pixel(x, area.y + area.cell_height / 4), series_color(0));
  EXPECT_EQ(panel.canvas.pixel(x, area.y + area.cell_height * 5 / 8), series_color(0));
}

TEST(Bars, HighlightsOne) {
  const Panel panel =
      draw_bars({.values = {0.5, 0.5}, .highlight = 1, .highlight_label = "the query"});
  EXPECT_GT(bar_height(panel, 1, series_color(1)), 0);
  EXPECT_EQ(bar_height(panel, 0, series_color(1)), 0);
}

class BarCount : public testing::TestWithParam<int> {};

TEST_P(BarCount, NothingIsCut) {
  Bars bars;
  for (int i = 0; i < GetParam(); ++i) {
    bars.values.push_back(i % 5 ? 1.0 / (i + 1) : 0.0);
    bars.labels.push_back(i % 7 ? "a" : "U+1F600");
    bars.reference.push_back(0.5);
  }
  bars.title = std::string(200, 't');
  bars.caption = "caption";
  bars.reference_label = "uniform";
  const Panel panel = figure(draw_bars(bars), {"Bars", "sub", "made by: a test"});
  EXPECT_EQ(panel.areas[0].columns, GetParam());
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

INSTANTIATE_TEST_SUITE_P(Counts, BarCount, testing::Values(1, 2, 22, 64, 128, 700));

TEST(Bars, RefuseBadInput) {
  EXPECT_EQ(message_of([] { draw_bars({}); }), "[bars] needs at least one bar; got none");
  EXPECT_EQ(message_of([] {
              draw_bars({.values = {1, 2}, .labels = {"a"}});
            }),
            "[plot] labels must number 0 or 2; got 1");
  EXPECT_EQ(message_of([] {
              draw_bars({.values = {1, 2}, .reference = {1}});
            }),
            "[bars] the reference must number 0 or 2; got 1");
  EXPECT_EQ(message_of([] { draw_bars({.values = {1}, .low = 2.0, .high = 1.0}); }),
            "[bars] low must be below high; got 2 and 1");
}

LinePlot two_lines() {
  return {.series = {{.name = "dense", .x = {256, 512, 1024}, .y = {1, 4, 16}},
                     {.name = "fused", .x = {256, 512, 1024}, .y = {0.5, 1, 2}}},
          .x_title = "T",
          .y_title = "ms"};
}

TEST(Lines, DrawEverySeriesInItsColour) {
  const Panel panel = draw_lines(two_lines());
  EXPECT_GT(count(panel.canvas, series_color(0)), 500);
  EXPECT_GT(count(panel.canvas, series_color(1)), 500);
  EXPECT_EQ(count(panel.canvas, series_color(2)), 0);
}

// With fixed limits the middle of the axes is known: there the disc's centre must be.
TEST(Lines, PointsStandWhereTheAxesSay) {
  for (const bool log : {false, true}) {
    LinePlot plot{.series = {{.x = {log ? 10.0 : 50.5}, .y = {log ? 10.0 : 50.5}}},
                  .log_x = log,
                  .log_y = log};
    plot.x_low = plot.y_low = 1.0;
    plot.x_high = plot.y_high = 100.0;
    const Panel panel = draw_lines(plot);
    const int x = panel.anchor_x + Theme().px(plot.width) / 2;
    const int y = panel.anchor_y + Theme().px(plot.height) / 2;
    EXPECT_EQ(panel.canvas.pixel(x, y), series_color(0));
    EXPECT_NE(panel.canvas.pixel(x + 12, y), series_color(0));
  }
}

TEST(Lines, NanBreaksTheLine) {
  LinePlot plot{.series = {{.x = {0, 1, 2, 3}, .y = {1, 1, 1, 1}, .points = false}}};
  const int whole = count(draw_lines(plot).canvas, series_color(0));
  plot.series[0].y[1] = kNan;
  const int broken = count(draw_lines(plot).canvas, series_color(0));
  EXPECT_LT(broken, whole * 2 / 3);
  EXPECT_GT(broken, whole / 5);
}

TEST(Lines, LogAxesLeaveOutWhatIsNotPositive) {
  LinePlot plot{.series = {{.x = {0, 1, 10}, .y = {-1, 1, 10}}}, .log_x = true, .log_y = true};
  EXPECT_GT(count(draw_lines(plot).canvas, series_color(0)), 0);
}

TEST(Lines, StayInsideGivenLimits) {
  LinePlot plot{.series = {{.x = {0, 10}, .y = {-100, 100}}}};
  plot.y_low = 0.0;
  plot.y_high = 1.0;
  const Panel panel = draw_lines(plot);
  for (int y = 0; y < panel.anchor_y; ++y) {
    for (int x = 0; x < panel.canvas.width(); ++x) {
      ASSERT_NE(panel.canvas.pixel(x, y), series_color(0));
    }
  }
}

class LineShape : public testing::TestWithParam<bool> {};

TEST_P(LineShape, NothingIsCut) {
  LinePlot plot = two_lines();
  plot.log_x = plot.log_y = GetParam();
  plot.title = "A panel";
  plot.caption = "What is to be seen.";
  plot.notes = "Fitted exponent 1.98 ± 0.03.";
  plot.x_ticks = {256, 512, 1024, 100000};
  const Panel panel = figure(draw_lines(plot), {"Lines", "", "made by: a test"});
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

INSTANTIATE_TEST_SUITE_P(Axes, LineShape, testing::Bool());

TEST(Lines, OnePointAndEqualPointsWork) {
  for (const bool log : {false, true}) {
    EXPECT_GT(
        count(draw_lines({.series = {{.x = {5}, .y = {5}}}, .log_x = log}).canvas, series_color(0)),
        0);
    EXPECT_GT(count(draw_lines({.series = {{.x = {1, 2}, .y = {3, 3}}}, .log_y = log}).canvas,
                    series_color(0)),
              0);
  }
  EXPECT_NO_THROW(draw_lines({.series = {{.x = {}, .y = {}}}}));
  EXPECT_NO_THROW(draw_lines({.series = {{.x = {kNan}, .y = {kInfinity}}}}));
}

TEST(Lines, RefuseBadInput) {
  EXPECT_EQ(message_of([] { draw_lines({}); }), "[lines] needs at least one series; got none");
  EXPECT_EQ(message_of([] {
              draw_lines({.series = {{.x = {1, 2}, .y = {1}}}});
            }),
            "[lines] x and y must be equally long; got 2 and 1");
  LinePlot plot = two_lines();
  plot.y_low = 3.0;
  plot.y_high = 3.0;
  EXPECT_EQ(message_of([&] { draw_lines(plot); }), "[lines] an axis needs low < high; got 3 and 3");
  plot.log_y = true;
  plot.y_low = 0.0;
  EXPECT_EQ(message_of([&] { draw_lines(plot); }),
            "[lines] an axis needs 0 < low < high; got 0 and 3");
}

TEST(ValueAxis, PutsValuesOnPixels) {
  const ValueAxis linear{.low = -1, .high = 1, .log = false, .length = 100};
  EXPECT_EQ(row_of(linear, 1, 10), 10);
  EXPECT_EQ(row_of(linear, 0, 10), 60);
  EXPECT_EQ(row_of(linear, -1, 10), 110);
  const ValueAxis log{.low = 1, .high = 10000, .log = true, .length = 100};
  EXPECT_EQ(row_of(log, 100, 0), 50);
  EXPECT_FALSE(log.shows(0.0));
  EXPECT_FALSE(linear.shows(kNan));
}

}  // namespace
}  // namespace lookback
