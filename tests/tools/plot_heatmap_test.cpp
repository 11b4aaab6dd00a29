// Heatmaps pixel by pixel: `areas` says where each cell is, so every colour can be checked.
#include "tools/plot/heatmap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tests/tools/plot_support.h"

namespace lookback {
namespace {

using namespace plot;
using test::margin_is_paper;
using test::message_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Row i attends to keys 0 ... i equally.
Heatmap causal(int length) {
  Heatmap heatmap;
  heatmap.rows = heatmap.columns = length;
  for (int i = 0; i < length; ++i) {
    for (int j = 0; j < length; ++j) heatmap.values.push_back(j <= i ? 1.0 / (i + 1) : 0.0);
    heatmap.row_labels.push_back(std::string(1, static_cast<char>('a' + i % 26)));
  }
  heatmap.column_labels = heatmap.row_labels;
  return heatmap;
}

// Every pixel of the cell has one colour, which is returned.
Rgb cell_color(const Panel& panel, int row, int column, std::size_t area_index = 0) {
  const CellArea& area = panel.areas.at(area_index);
  const int x = area.x + column * area.cell_width;
  const int y = area.y + row * area.cell_height;
  const Rgb color = panel.canvas.pixel(x, y);
  for (int dy = 0; dy < area.cell_height; ++dy) {
    for (int dx = 0; dx < area.cell_width; ++dx) {
      EXPECT_EQ(panel.canvas.pixel(x + dx, y + dy), color) << row << " " << column;
    }
  }
  return color;
}

// Panels in the middle of a grid have no axis that would leave room for the frame.
TEST(Heatmap, EveryPanelOfAGridHasItsFrame) {
  HeatmapGrid grid;
  grid.panels = {causal(4), causal(4), causal(4), causal(4)};
  grid.columns = 2;
  const Panel panel = draw_heatmap_grid(grid);
  ASSERT_EQ(panel.areas.size(), 4u);
  for (const CellArea& area : panel.areas) {
    const int right = area.x + area.columns * area.cell_width;
    const int bottom = area.y + area.rows * area.cell_height;
    for (int x = area.x - 1; x <= right; ++x) {
      EXPECT_EQ(panel.canvas.pixel(x, area.y - 1), palette::frame);
      EXPECT_EQ(panel.canvas.pixel(x, bottom), palette::frame);
    }
    for (int y = area.y - 1; y <= bottom; ++y) {
      EXPECT_EQ(panel.canvas.pixel(area.x - 1, y), palette::frame);
      EXPECT_EQ(panel.canvas.pixel(right, y), palette::frame);
    }
  }
}

class HeatmapOfLength : public testing::TestWithParam<int> {};

TEST_P(HeatmapOfLength, EveryCellHasItsColourAndNothingIsCut) {
  const int length = GetParam();
  const Heatmap heatmap = causal(length);
  const Panel panel = figure(draw_heatmap(heatmap), {"Title", "subtitle", "made by: a test"});
  ASSERT_EQ(panel.areas.size(), 1u);
  EXPECT_EQ(panel.areas[0].rows, length);
  EXPECT_EQ(panel.areas[0].columns, length);
  EXPECT_GE(panel.areas[0].cell_width, 1);
  EXPECT_EQ(panel.areas[0].cell_width, panel.areas[0].cell_height);
  const int step = std::max(1, length / 16);
  for (int i = 0; i < length; i += step) {
    for (int j = 0; j < length; j += step) {
      const double value = heatmap.values[static_cast<std::size_t>(i * length + j)];
      const Rgb expected = value == 0.0 ? palette::masked : color_at(ColorMap::blues, value);
      ASSERT_EQ(cell_color(panel, i, j), expected) << i << " " << j;
    }
  }
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

INSTANTIATE_TEST_SUITE_P(Lengths, HeatmapOfLength, testing::Values(1, 2, 3, 8, 22, 64, 129, 512));

TEST(Heatmap, RefusesNothing) {
  EXPECT_EQ(message_of([] { draw_heatmap(Heatmap()); }),
            "[heatmap] needs at least one row and one column; got [0, 0]");
  EXPECT_EQ(message_of([] { draw_heatmap({.rows = 2, .columns = 0}); }),
            "[heatmap] needs at least one row and one column; got [2, 0]");
}

TEST(Heatmap, RefusesSizesThatDisagree) {
  EXPECT_EQ(message_of([] {
              draw_heatmap({.rows = 2, .columns = 2, .values = {1, 2, 3}});
            }),
            "[heatmap] values must fill the matrix; got 3 for [2, 2]");
  Heatmap heatmap = causal(4);
  heatmap.row_labels.pop_back();
  EXPECT_EQ(message_of([&] { draw_heatmap(heatmap); }), "[plot] labels must number 0 or 4; got 3");
}

TEST(Heatmap, ExactZeroDiffersFromATinyNumber) {
  const Panel panel = draw_heatmap({.rows = 1, .columns = 4, .values = {0.0, 1e-300, -0.0, 1.0}});
  EXPECT_EQ(cell_color(panel, 0, 0), palette::masked);
  EXPECT_EQ(cell_color(panel, 0, 1), color_at(ColorMap::blues, 0.0));
  EXPECT_EQ(cell_color(panel, 0, 2), palette::masked);
  EXPECT_EQ(cell_color(panel, 0, 3), color_at(ColorMap::blues, 1.0));
}

TEST(Heatmap, ZeroMayBeANumber) {
  Heatmap heatmap{.rows = 1, .columns = 2, .values = {0.0, 1.0}};
  heatmap.scale.zero_is_masked = false;
  EXPECT_EQ(cell_color(draw_heatmap(heatmap), 0, 0), color_at(ColorMap::blues, 0.0));
}

TEST(Heatmap, NanAndInfinitiesHaveTheirColours) {
  const Panel panel =
      draw_heatmap({.rows = 1, .columns = 4, .values = {kNan, kInfinity, -kInfinity, 1.0}});
  EXPECT_EQ(cell_color(panel, 0, 0), palette::nan);
  EXPECT_EQ(cell_color(panel, 0, 1), palette::infinite);
  EXPECT_EQ(cell_color(panel, 0, 2), palette::masked);
  EXPECT_EQ(cell_color(panel, 0, 3), color_at(ColorMap::blues, 1.0));
}

bool holds(const Canvas& canvas, Rgb color, int from_x) {
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = from_x; x < canvas.width(); ++x) {
      if (canvas.pixel(x, y) == color) return true;
    }
  }
  return false;
}

// Looks right of the matrix only, where the legend is.
bool legend_holds(const Panel& panel, Rgb color) {
  const CellArea& area = panel.areas[0];
  return holds(panel.canvas, color, area.x + area.columns * area.cell_width + 2);
}

TEST(Heatmap, LegendNamesOnlyWhatIsThere) {
  const Panel plain = draw_heatmap({.rows = 1, .columns = 2, .values = {0.25, 1}});
  EXPECT_FALSE(legend_holds(plain, palette::masked));
  EXPECT_FALSE(legend_holds(plain, palette::nan));
  const Panel odd = draw_heatmap({.rows = 1, .columns = 3, .values = {0, kNan, 1}});
  EXPECT_TRUE(legend_holds(odd, palette::masked));
  EXPECT_TRUE(legend_holds(odd, palette::nan));
  EXPECT_FALSE(legend_holds(odd, palette::infinite));
}

TEST(Heatmap, AllMaskedAndAllNanWork) {
  EXPECT_EQ(cell_color(draw_heatmap({.rows = 1, .columns = 1, .values = {0.0}}), 0, 0),
            palette::masked);
  EXPECT_EQ(cell_color(draw_heatmap({.rows = 1, .columns = 1, .values = {kNan}}), 0, 0),
            palette::nan);
}

TEST(Heatmap, RowsBeginOnTopColumnsAtTheLeft) {
  const Panel panel = draw_heatmap({.rows = 2, .columns = 2, .values = {0.1, 0.2, 0.3, 1.0}});
  EXPECT_EQ(cell_color(panel, 0, 1), color_at(ColorMap::blues, 0.2));
  EXPECT_EQ(cell_color(panel, 1, 0), color_at(ColorMap::blues, 0.3));
}

TEST(Heatmap, OblongOnesWork) {
  for (const auto& [rows, columns] : {std::pair{1, 300}, {300, 1}, {3, 40}, {40, 3}}) {
    const std::vector<double> values(static_cast<std::size_t>(rows * columns), 0.5);
    const Panel panel = figure(draw_heatmap({.rows = rows, .columns = columns, .values = values}),
                               {"Oblong", "", ""});
    EXPECT_EQ(panel.areas[0].rows, rows);
    EXPECT_GE(panel.areas[0].cell_height * rows, Theme().px(30));
    EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
  }
}

TEST(Heatmap, OddLabelsAndLongTitlesAreNotCut) {
  Heatmap heatmap = causal(9);
  heatmap.row_labels = {"漢", "😀", "↵", "␣", "é", "U+0000", "⇤", "a whole word", "\xff"};
  heatmap.column_labels = heatmap.row_labels;
  heatmap.title = std::string(300, 'x').append(" and words");
  heatmap.caption = std::string(200, 'y');
  const Panel panel = figure(draw_heatmap(heatmap), {std::string(400, 'W'), std::string(500, 'i'),
                                                     std::string("made by: ").append(300, '-')});
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

TEST(Heatmap, EveryScaleWorks) {
  for (const int scale : {1, 2, 3}) {
    const Panel panel =
        figure(draw_heatmap(causal(8), Theme(scale)), {"T", "s", "f"}, Theme(scale));
    EXPECT_EQ(panel.areas[0].cell_width, 56 * scale);
    EXPECT_TRUE(margin_is_paper(panel.canvas, 20 * scale));
  }
}

TEST(HeatmapGrid, SharesOneScale) {
  const Heatmap small{.rows = 1, .columns = 1, .values = {1}};
  const Heatmap large{.rows = 1, .columns = 1, .values = {4}};
  const Panel panel = draw_heatmap_grid({.panels = {small, large}});
  ASSERT_EQ(panel.areas.size(), 2u);
  EXPECT_EQ(cell_color(panel, 0, 0, 0), color_at(ColorMap::blues, 0.25));
  EXPECT_EQ(cell_color(panel, 0, 0, 1), color_at(ColorMap::blues, 1.0));
}

TEST(HeatmapGrid, AlignsRowsAndColumns) {
  HeatmapGrid grid;
  grid.columns = 4;
  for (int i = 0; i < 12; ++i) {
    grid.panels.push_back(causal(i % 3 == 0 ? 6 : 9));
    grid.panels.back().title = i == 2 ? std::string(200, 'x') : "short";
    grid.panels.back().caption = i % 2 ? "a caption" : "";
  }
  const Panel panel = figure(draw_heatmap_grid(grid), {"Grid", "", "made by: a test"});
  ASSERT_EQ(panel.areas.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(panel.areas[i].y, panel.areas[i - i % 4].y);
    EXPECT_EQ(panel.areas[i].x, panel.areas[i % 4].x);
  }
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

TEST(HeatmapGrid, PanelsDoNotOverlap) {
  HeatmapGrid grid;
  grid.columns = 3;
  for (int i = 0; i < 7; ++i) grid.panels.push_back(causal(5 + i));
  const Panel panel = draw_heatmap_grid(grid);
  for (const CellArea& a : panel.areas) {
    for (const CellArea& b : panel.areas) {
      const bool apart = &a == &b || a.x + a.columns * a.cell_width < b.x ||
                         b.x + b.columns * b.cell_width < a.x ||
                         a.y + a.rows * a.cell_height < b.y || b.y + b.rows * b.cell_height < a.y;
      EXPECT_TRUE(apart);
    }
  }
}

TEST(HeatmapGrid, RefusesNoPanels) {
  EXPECT_EQ(message_of([] { draw_heatmap_grid({}); }),
            "[heatmap_grid] needs at least one panel; got none");
}

}  // namespace
}  // namespace lookback
