// The matchers themselves: a test that cannot fail proves nothing. Above all, NaN is refused.
#include "tests/support/matchers.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "engine/ops.h"

namespace lookback::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor row(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

TEST(Matchers, AllCloseAcceptsWithinToleranceOnly) {
  EXPECT_TRUE(all_close(row({1, 2}), row({1, 2.0000009}), 1e-6));
  EXPECT_FALSE(all_close(row({1, 2}), row({1, 2.00001}), 1e-6));
}

TEST(Matchers, AllCloseIsRelativeAboveOneAndAbsoluteBelow) {
  EXPECT_TRUE(all_close(row({1e6 + 0.5}), row({1e6}), 1e-6));
  EXPECT_FALSE(all_close(row({1e6 + 2}), row({1e6}), 1e-6));
  EXPECT_TRUE(all_close(row({1e-7}), row({0}), 1e-6));
}

TEST(Matchers, AllCloseRejectsNaNOnEitherSideAndOnBoth) {
  EXPECT_FALSE(all_close(row({kNaN}), row({1}), 1e9));
  EXPECT_FALSE(all_close(row({1}), row({kNaN}), 1e9));
  EXPECT_FALSE(all_close(row({kNaN}), row({kNaN}), 1e9));
  EXPECT_FALSE(all_close(row({1}), row({1.5}), kNaN));
}

TEST(Matchers, AllCloseTakesEqualInfinitiesOnly) {
  EXPECT_TRUE(all_close(row({kInfinity}), row({kInfinity}), 0));
  EXPECT_FALSE(all_close(row({-kInfinity}), row({kInfinity}), 1e-6));
  EXPECT_FALSE(all_close(row({1e300}), row({kInfinity}), 1e-6));
  EXPECT_FALSE(all_close(row({kInfinity}), row({1e300}), 1e-6));
}

TEST(Matchers, AllCloseRejectsOtherShapesAndDtypes) {
  EXPECT_FALSE(all_close(zeros({2, 3}), zeros({3, 2}), 1));
  EXPECT_FALSE(all_close(zeros({1}), zeros({}), 1));
  EXPECT_FALSE(all_close(zeros({2}, DType::f32), zeros({2}, DType::f64), 1));
  EXPECT_FALSE(all_close(Tensor(), zeros({2}), 1));
}

TEST(Matchers, AllCloseReadsViewsInLogicalOrder) {
  const Tensor x = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = from_vector<double>({1, 4, 2, 5, 3, 6}, {3, 2});
  EXPECT_TRUE(all_close(transpose(x, 0, 1), y, 0));
  EXPECT_FALSE(all_close(reshape(x, {3, 2}), y, 0));
}

TEST(Matchers, AllCloseNamesTheFirstDifference) {
  const auto result = all_close(zeros({2, 3}), tril(ones({2, 3}), -1), 1e-3);
  EXPECT_TRUE(contains_all(result.message(), {"1 of 6", "[1, 0]", "expected 1"}));
}

TEST(Matchers, HasValuesChecksShapeCountAndValues) {
  EXPECT_TRUE(has_values(row({1, 2}), {2}, {1, 2}));
  EXPECT_FALSE(has_values(row({1, 2}), {2, 1}, {1, 2}));
  EXPECT_FALSE(has_values(row({1, 2}), {2}, {1}));
  EXPECT_FALSE(has_values(row({1, 2}), {2}, {1, 3}));
  EXPECT_FALSE(has_values(row({kNaN}), {1}, {kNaN}));
}

TEST(Matchers, SameBitsTellsZerosApartAndOneUlp) {
  EXPECT_TRUE(same_bits(row({0.0, kNaN}), row({0.0, kNaN})));
  EXPECT_FALSE(same_bits(row({0.0}), row({-0.0})));
  EXPECT_FALSE(same_bits(row({1}), row({std::nextafter(1.0, 2.0)})));
}

TEST(Matchers, SameBitsRejectsOtherShapesAndDtypes) {
  EXPECT_FALSE(same_bits(zeros({2, 3}), zeros({3, 2})));
  EXPECT_FALSE(same_bits(zeros({2}, DType::f32), zeros({2}, DType::f64)));
}

TEST(Matchers, AllNaNNeedsEveryElementAndAtLeastOne) {
  EXPECT_TRUE(all_nan(row({kNaN, kNaN})));
  EXPECT_FALSE(all_nan(row({kNaN, 0})));
  EXPECT_FALSE(all_nan(row({})));
}

TEST(Matchers, AllZeroRejectsNaN) {
  EXPECT_TRUE(all_zero(row({0.0, -0.0})));
  EXPECT_FALSE(all_zero(row({0, kNaN})));
  EXPECT_FALSE(all_zero(row({0, 1e-300})));
}

TEST(Matchers, ThrowsChecksTypeTextAndThatItThrew) {
  const auto bad = [] { throw std::invalid_argument("[op] got [2, 3]"); };
  EXPECT_TRUE(throws<std::invalid_argument>(bad, {"[op]", "[2, 3]"}));
  EXPECT_FALSE(throws<std::invalid_argument>(bad, {"[op]", "[3, 2]"}));
  EXPECT_FALSE(throws<std::out_of_range>(bad, {"[op]"}));
  EXPECT_FALSE(throws<std::invalid_argument>([] {}, {}));
}

TEST(Matchers, WorkAsGmockMatchers) {
  EXPECT_THAT(row({1, 2}), close_to(row({1, 2}), 0));
  EXPECT_THAT(row({kNaN}), testing::Not(close_to(row({kNaN}), 1)));
  EXPECT_THAT(row({1, 2}), same_bits_as(row({1, 2})));
  EXPECT_THAT(row({0.0}), testing::Not(same_bits_as(row({-0.0}))));
}

}  // namespace
}  // namespace lookback::test
