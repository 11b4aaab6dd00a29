// Colour scales: which numbers they span, and which colours numbers have on them.
#include "tools/plot/color_scale.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/tools/files_support.h"

namespace lookback {
namespace {

using namespace plot;
using test::message_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ColorScale, SpansZeroToTheLargest) {
  const std::vector<double> values = {0.25, 0.75};
  const SettledScale scale(ColorScale(), {values});
  EXPECT_EQ(scale.low(), 0.0);
  EXPECT_EQ(scale.high(), 0.75);
}

TEST(ColorScale, SpansNegativeNumbersToo) {
  const std::vector<double> values = {-2, kNan, kInfinity, 1};
  const SettledScale scale(ColorScale(), {values});
  EXPECT_EQ(scale.low(), -2.0);
  EXPECT_EQ(scale.high(), 1.0);
}

TEST(ColorScale, OfLogarithmsSpansSixDecadesAtMostAndShowsWhatIsCut) {
  const std::vector<double> few = {1.0, 1e-3, 0.0};
  EXPECT_EQ(SettledScale({.log = true}, {few}).low(), 1e-3);
  const std::vector<double> many = {1.0, 1e-30, 0.0};
  const SettledScale cut({.log = true}, {many});
  EXPECT_EQ(cut.low(), 1e-6);
  EXPECT_EQ(cut.color(1e-30), color_at(ColorMap::blues, 0));
  EXPECT_EQ(cut.color(0.0), palette::masked);
  // One more line in the legend, below a bar that cannot shrink.
  EXPECT_GT(cut.draw_bar(1, Theme()).canvas.height(),
            SettledScale({.log = true}, {few}).draw_bar(1, Theme()).canvas.height());
}

TEST(ColorScale, RedBlueIsSymmetric) {
  const std::vector<double> values = {-2, 1};
  const SettledScale scale({.map = ColorMap::red_blue, .zero_is_masked = false}, {values});
  EXPECT_EQ(scale.low(), -2.0);
  EXPECT_EQ(scale.high(), 2.0);
  EXPECT_EQ(scale.color(0.0), color_at(ColorMap::red_blue, 0.5));
}

TEST(ColorScale, LogSpansThePositive) {
  const std::vector<double> values = {0, 1e-6, 1};
  const SettledScale scale({.log = true}, {values});
  EXPECT_EQ(scale.low(), 1e-6);
  EXPECT_EQ(scale.color(1e-3), color_at(ColorMap::blues, 0.5));
  EXPECT_EQ(scale.color(0.0), palette::masked);
}

TEST(ColorScale, FixedLimitsHoldAndClamp) {
  const std::vector<double> values = {0.5, 3};
  const SettledScale scale({.low = 0.0, .high = 1.0}, {values});
  EXPECT_EQ(scale.color(3.0), color_at(ColorMap::blues, 1.0));
  EXPECT_EQ(scale.color(-3.0), color_at(ColorMap::blues, 0.0));
}

TEST(ColorScale, RefusesImpossibleLimits) {
  const std::vector<double> values = {0.5};
  EXPECT_EQ(message_of([&] { SettledScale({.low = 1.0, .high = 1.0}, {values}); }),
            "[plot] a colour scale needs low < high; got 1 and 1");
  EXPECT_EQ(message_of([&] { SettledScale({.low = 0.0, .high = 1.0, .log = true}, {values}); }),
            "[plot] a colour scale needs 0 < low < high; got 0 and 1");
}

}  // namespace
}  // namespace lookback
