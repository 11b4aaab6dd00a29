// Shapes and dimensions: arithmetic on small lists.
#include "engine/shape.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tests/support/matchers.h"

namespace lookback {
namespace {

using test::throws;

std::string printed(const Shape& shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

TEST(Shape, PrintsLikeAList) {
  EXPECT_EQ(printed({}), "[]");
  EXPECT_EQ(printed({5}), "[5]");
  EXPECT_EQ(printed({2, 3, 4}), "[2, 3, 4]");
}

TEST(Shape, IsAListOfSizes) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape.back(), 4);
  EXPECT_EQ(shape.to_vector(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(Shape(std::vector<int64_t>{2, 3, 4}), shape);
  EXPECT_EQ(Shape::filled(3, 7), (Shape{7, 7, 7}));
  EXPECT_TRUE(Shape().empty());
}

TEST(Shape, EqualityNeedsEqualRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2}) == (Shape{2, 1}));
  EXPECT_FALSE(Shape{} == Shape{1});
}

TEST(Shape, GrowsAndShrinksAnywhere) {
  Shape shape{2, 4};
  shape.insert(1, 3);
  shape.insert(0, 1);
  shape.push_back(5);
  EXPECT_EQ(shape, (Shape{1, 2, 3, 4, 5}));
  shape.erase(0);
  shape.erase(3);
  EXPECT_EQ(shape, (Shape{2, 3, 4}));
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).numel(), 0);
}

TEST(Shape, EightDimensionsAreTheLimit) {
  EXPECT_EQ((Shape{1, 1, 1, 1, 1, 1, 1, 2}).rank(), 8);
  EXPECT_TRUE(throws<std::invalid_argument>([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; },
                                            {"[shape]", "at most 8 dimensions"}));
}

// A product that wraps around would promise more elements than there is memory for.
TEST(Shape, RefusesProductsThatOverflow) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        (void)Shape{huge, huge}.numel();
      },
      {"[shape]", "too many elements"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        (void)Shape{0, huge, huge}.numel();
      },
      {"too many elements"}));
  EXPECT_EQ((Shape{huge, 1, 4}).numel(), huge * 4);
}

TEST(Strides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides({}), Strides{});
  EXPECT_EQ(contiguous_strides({5}), Strides{1});
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 3}), (Strides{3, 3, 1}));
}

TEST(Dims, NegativeOnesCountFromTheEnd) {
  EXPECT_EQ(resolve_dim("sum", 0, 3), 0);
  EXPECT_EQ(resolve_dim("sum", 2, 3), 2);
  EXPECT_EQ(resolve_dim("sum", -1, 3), 2);
  EXPECT_EQ(resolve_dim("sum", -3, 3), 0);
}

TEST(Dims, OutOfRangeNamesOpDimensionAndRank) {
  EXPECT_TRUE(throws<std::out_of_range>([] { resolve_dim("sum", 3, 3); },
                                        {"[sum]", "dimension 3", "3 dimensions"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { resolve_dim("sum", -2, 1); },
                                        {"[sum]", "dimension -2", "1 dimension"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { resolve_dim("sum", 0, 0); }, {"0 dimensions"}));
}

struct BroadcastCase {
  Shape a, b, result;
};

class Broadcast : public testing::TestWithParam<BroadcastCase> {};

TEST_P(Broadcast, GivesTheSameShapeBothWays) {
  const auto& [a, b, result] = GetParam();
  EXPECT_EQ(broadcast_shapes("add", a, b), result);
  EXPECT_EQ(broadcast_shapes("add", b, a), result);
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, Broadcast,
    testing::Values(BroadcastCase{{}, {}, {}}, BroadcastCase{{2, 3}, {}, {2, 3}},
                    BroadcastCase{{2, 3}, {2, 3}, {2, 3}}, BroadcastCase{{2, 3}, {3}, {2, 3}},
                    BroadcastCase{{2, 1}, {1, 3}, {2, 3}},
                    BroadcastCase{{4, 1, 3}, {2, 1}, {4, 2, 3}}, BroadcastCase{{0}, {1}, {0}},
                    BroadcastCase{{1, 0}, {5, 1}, {5, 0}}));

TEST(Broadcast, UnequalSizesAreRefusedWithBothShapes) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        broadcast_shapes("add", {2, 3}, {2, 4});
      },
      {"[add]", "[2, 3]", "[2, 4]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { broadcast_shapes("add", {0}, {2}); }, {"[0]"}));
}

TEST(Broadcast, RepeatedSizesHaveStrideZero) {
  EXPECT_EQ(broadcast_strides({2, 3}, {3, 1}, {2, 3}), (Strides{3, 1}));
  EXPECT_EQ(broadcast_strides({3}, {1}, {2, 3}), (Strides{0, 1}));
  EXPECT_EQ(broadcast_strides({2, 1}, {1, 1}, {4, 2, 3}), (Strides{0, 1, 0}));
}

}  // namespace
}  // namespace lookback
