// Axes: round ticks inside their range; labels whole, and never on top of each other.
#include "tools/plot/axis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"

namespace lookback {
namespace {

using namespace plot;

std::vector<std::string> texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks) labels.push_back(tick.label);
  return labels;
}

using Labels = std::vector<std::string>;

TEST(LinearTicks, AreRound) {
  EXPECT_EQ(texts(linear_ticks(0, 1, 6)), (Labels{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(texts(linear_ticks(0, 0.27, 3)), (Labels{"0.0", "0.1", "0.2"}));
  EXPECT_EQ(texts(linear_ticks(-3.6, 4.5, 5)), (Labels{"-2", "0", "2", "4"}));
  EXPECT_EQ(texts(linear_ticks(0, 128, 7)), (Labels{"0", "20", "40", "60", "80", "100", "120"}));
  EXPECT_EQ(texts(linear_ticks(0, 3e-5, 4)), (Labels{"0.00000", "0.00001", "0.00002", "0.00003"}));
  EXPECT_EQ(texts(linear_ticks(0, 4e9, 5)), (Labels{"0", "1e+09", "2e+09", "3e+09", "4e+09"}));
}

TEST(EdgeLabels, NameWhatTheFaceLacksInOneFormThinnedOrNot) {
  const Labels all(400, "\xf0\x93\x80\x80");  // a hieroglyph
  const EdgeLabels wide = fit_row_labels({all[0]}, 1, 60, Theme());
  const EdgeLabels thinned = fit_row_labels(all, 400, 4, Theme());
  EXPECT_EQ(wide.texts[0], "U+13000");
  EXPECT_EQ(thinned.texts[20], "20 U+13000");
}

TEST(LinearTicks, OfCountsAreWhole) {
  EXPECT_EQ(texts(linear_ticks(-0.5, 0.5, 9, 1)), (Labels{"0"}));
  EXPECT_EQ(texts(linear_ticks(-0.5, 2.5, 9, 1)), (Labels{"0", "1", "2"}));
  EXPECT_EQ(texts(linear_ticks(0, 128, 7, 1)), texts(linear_ticks(0, 128, 7)));
}

class TickRange : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(TickRange, TicksAreInsideDistinctAndFew) {
  const auto [low, high] = GetParam();
  for (int max_count = 2; max_count < 12; ++max_count) {
    auto ticks = linear_ticks(low, high, max_count);
    EXPECT_LE(static_cast<int>(ticks.size()), max_count);
    EXPECT_GE(ticks.size(), 1u) << low << " " << high << " " << max_count;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double slack = (high - low) * 1e-6;
      EXPECT_GE(ticks[i].value, low - slack);
      EXPECT_LE(ticks[i].value, high + slack);
      EXPECT_TRUE(i == 0 || ticks[i].label != ticks[i - 1].label);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, TickRange,
                         testing::Values(std::pair{0.0, 1.0}, std::pair{0.0, 0.0031},
                                         std::pair{-1.0, 1.0}, std::pair{-7e-9, 2e-8},
                                         std::pair{3.0, 3.01}, std::pair{0.0, 12345.0},
                                         std::pair{-5e12, 8e12}, std::pair{0.97, 1.003}));

TEST(LogTicks, ArePowersOfTenOverManyDecades) {
  EXPECT_EQ(texts(log_ticks(0.5, 2000, 6)), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(texts(log_ticks(1e-9, 1e-5, 9)), (Labels{"10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶", "10⁻⁵"}));
  EXPECT_EQ(texts(log_ticks(1e-12, 1, 4)), (Labels{"10⁻¹²", "10⁻⁸", "10⁻⁴", "10⁰"}));
}

TEST(LogTicks, AreStepsOfOneTwoFiveOverFew) {
  EXPECT_EQ(texts(log_ticks(0.8, 30, 9)), (Labels{"1", "2", "5", "10", "20"}));
  EXPECT_GE(log_ticks(3, 4, 5).size(), 2u);
}

TEST(FormatNumber, IsShort) {
  EXPECT_EQ(format_number(0.25), "0.25");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(1234567.0, 6), "1.23457e+06");
  EXPECT_EQ(format_number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(format_number(-std::numeric_limits<double>::infinity()), "−∞");
}

bool turned(const EdgeLabels& labels, std::size_t i, const Theme& theme) {
  return theme.text_width(labels.texts[i], labels.style) > labels.room;
}

// What the widest drawn label takes of the edge; between lines is space that letters do not fill.
int widest_taken(const EdgeLabels& labels, const Theme& theme) {
  const int line = theme.line_height(labels.style);
  int taken = 0;
  for (std::size_t i = 0; i < labels.texts.size(); i += static_cast<std::size_t>(labels.stride)) {
    const int width = theme.text_width(labels.texts[i], labels.style);
    taken = std::max(taken, turned(labels, i, theme) ? line - line / 8 : width);
  }
  return taken;
}

class LabelFit : public testing::TestWithParam<int> {};

// The smallest distance of two drawn labels is at least what a label needs in that direction.
TEST_P(LabelFit, LabelsNeverOverlap) {
  const Theme theme;
  const int count = GetParam();
  for (const std::string token : {"a", "U+1F600", "a whole word"}) {
    const Labels labels(static_cast<std::size_t>(count), token);
    for (const int cell : {1, 2, 3, 5, 9, 14, 20, 23, 24, 25, 28, 33, 56, 90, 112}) {
      const EdgeLabels columns = fit_column_labels(labels, count, cell, theme);
      if (count > 1) {
        EXPECT_GE(columns.stride * cell, widest_taken(columns, theme)) << token << " " << cell;
      }
      const EdgeLabels rows = fit_row_labels(labels, count, cell, theme);
      const int line = theme.line_height(rows.style);
      EXPECT_GE(rows.stride * cell, line - line / 8) << token << " " << cell;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, LabelFit, testing::Values(1, 2, 22, 100, 600));

TEST(EdgeLabels, ThinnedOnesCarryTheirPosition) {
  const Labels labels(100, "x");
  const EdgeLabels thinned = fit_row_labels(labels, 100, 4, Theme());
  EXPECT_GT(thinned.stride, 1);
  EXPECT_EQ(thinned.texts[20], "20 x");
  EXPECT_EQ(fit_row_labels(labels, 100, 60, Theme()).texts[20], "x");
}

TEST(EdgeLabels, PositionsStandInForMissingLabels) {
  const EdgeLabels labels = fit_column_labels({}, 3, 60, Theme());
  EXPECT_EQ(labels.texts, (Labels{"0", "1", "2"}));
}

TEST(EdgeLabels, LongOnesAreTurned) {
  const Theme theme;
  EXPECT_TRUE(turned(fit_column_labels(Labels(4, "a long label"), 4, 60, theme), 0, theme));
  EXPECT_FALSE(turned(fit_column_labels(Labels(4, "a"), 4, 60, theme), 0, theme));
}

TEST(EdgeLabels, ALongOneTurnsAndThinsNoOther) {
  const Theme theme;
  Labels labels(64, "a");
  labels[5] = "U+1F600";
  for (const int cell : {22, 28, 56}) {
    const EdgeLabels columns = fit_column_labels(labels, 64, cell, theme);
    EXPECT_EQ(columns.stride, 1) << cell;
    EXPECT_FALSE(turned(columns, 4, theme)) << cell;
    EXPECT_TRUE(turned(columns, 5, theme)) << cell;
  }
  labels[6] = labels[5];  // two lines beside each other need more than a narrow cell
  EXPECT_GT(fit_column_labels(labels, 64, 22, theme).stride, 1);
  EXPECT_EQ(fit_column_labels(labels, 64, 28, theme).stride, 1);
}

TEST(EdgeLabels, ThoseThatAreNotDrawnTakeNoRoom) {
  Labels labels(100, "a");
  const Labels plain = labels;
  labels[3] = "U+1F600";
  for (const auto& fit : {fit_row_labels, fit_column_labels}) {
    ASSERT_GT(fit(labels, 100, 4, Theme()).stride, 3);
    EXPECT_EQ(fit(labels, 100, 4, Theme()).extent, fit(plain, 100, 4, Theme()).extent);
  }
}

TEST(EdgeLabels, RefuseAWrongNumber) {
  EXPECT_EQ(test::message_of([] {
              fit_row_labels({"a", "b"}, 3, 60, Theme());
            }),
            "[plot] labels must number 0 or 3; got 2");
}

TEST(CellPixels, AreWholeAtLeastOneAndBounded) {
  const Theme theme;
  EXPECT_EQ(cell_pixels(1, 640, 900, theme), theme.px(56));
  EXPECT_EQ(cell_pixels(64, 640, 900, theme), theme.px(14));
  EXPECT_EQ(cell_pixels(512, 640, 900, theme), 3);
  EXPECT_EQ(cell_pixels(5000, 640, 900, theme), 1);
}

}  // namespace
}  // namespace lookback
