// Tensors as containers: making them, reading them, and their views' geometry.
#include "engine/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::all_zero;
using test::has_values;
using test::shares_storage;
using test::throws;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// --- Factories ----------------------------------------------------------------------------------

class Factories : public testing::TestWithParam<DType> {};

TEST_P(Factories, FillInEveryDtype) {
  const DType dtype = GetParam();
  EXPECT_TRUE(has_values(zeros({2, 2}, dtype), {2, 2}, {0, 0, 0, 0}));
  EXPECT_TRUE(has_values(ones({3}, dtype), {3}, {1, 1, 1}));
  EXPECT_TRUE(has_values(full({}, 1, dtype), {}, {1}));
  EXPECT_TRUE(has_values(eye(2, dtype), {2, 2}, {1, 0, 0, 1}));
  EXPECT_EQ(zeros({0, 3}, dtype).numel(), 0);
  EXPECT_EQ(empty({2, 3}, dtype).dtype(), dtype);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Factories,
                         testing::Values(DType::f32, DType::f64, DType::i64, DType::boolean),
                         [](const auto& dtype) { return name(dtype.param); });

TEST(Factories, GiveConstantsThatAreContiguous) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_TRUE(x.is_leaf());
  EXPECT_TRUE(x.is_contiguous());
}

TEST(Factories, ArangeCounts) {
  EXPECT_TRUE(has_values(arange(4), {4}, {0, 1, 2, 3}));
  EXPECT_EQ(arange(4).dtype(), DType::i64);
  EXPECT_TRUE(has_values(arange(-1, 2, DType::f32), {3}, {-1, 0, 1}));
  EXPECT_EQ(arange(0).numel(), 0);
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(3, 1); }, {"[arange]", "3", "1"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(3, DType::boolean); }, {"boolean"}));
}

TEST(Factories, EyeOfAnySize) {
  EXPECT_TRUE(has_values(eye(3), {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(eye(0).shape(), (Shape{0, 0}));
}

TEST(Factories, RefuseImpossibleSizes) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { zeros({2, -1}); }, {"negative", "[2, -1]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { eye(-1); }, {"negative"}));
  const int64_t huge = int64_t{1} << 40;
  EXPECT_TRUE(throws<std::invalid_argument>([&] { zeros({huge, huge}); }, {"too many elements"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { zeros({huge, huge, 0}); }, {"too many"}));
}

TEST(Factories, RefuseNumbersThatDoNotFit) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { full({}, 0.5, DType::i64); }, {"[full]", "0.5"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { full({}, 1e19, DType::i64); }, {"i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { full({}, kNaN, DType::i64); }, {"nan"}));
  EXPECT_TRUE(std::isnan(full({}, kNaN).item<float>()));
  EXPECT_TRUE(throws<std::invalid_argument>([] { full({}, 2, DType::boolean); }, {"boolean"}));
}

// --- from_vector and back -----------------------------------------------------------------------

TEST(FromVector, TheElementTypeDecidesTheDtype) {
  EXPECT_EQ(from_vector<float>({1}, {1}).dtype(), DType::f32);
  EXPECT_EQ(from_vector<double>({1}, {1}).dtype(), DType::f64);
  EXPECT_EQ(from_vector<int64_t>({1}, {1}).dtype(), DType::i64);
  EXPECT_EQ(from_vector<int>({1}, {1}).dtype(), DType::i64);
  EXPECT_EQ(from_vector<bool>({true}, {1}).dtype(), DType::boolean);
  EXPECT_EQ(from_vector<uint8_t>({1}, {1}).dtype(), DType::boolean);
}

TEST(FromVector, FillsRowByRow) {
  const Tensor x = from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(select(select(x, 0, 1), 0, 0).item<float>(), 4);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(FromVector, BooleansAreZeroOrOne) {
  EXPECT_TRUE(has_values(from_vector<uint8_t>({0, 1, 7, 255}, {4}), {4}, {0, 1, 1, 1}));
  EXPECT_TRUE(has_values(from_vector<bool>({true, false, true}, {3}), {3}, {1, 0, 1}));
}

TEST(FromVector, CountsItsValues) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        from_vector<float>({1, 2, 3}, {2, 2});
      },
      {"[from_vector]", "3 values", "[2, 2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { from_vector<float>({}, {}); }, {"0 values"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        from_vector<float>({1, 2}, {-1, -2});
      },
      {"negative"}));
  EXPECT_EQ(from_vector<float>({}, {0, 5}).numel(), 0);
}

TEST(ToVector, ConvertsToEveryType) {
  const Tensor x = from_vector<double>({-1.5, 0, 2.75}, {3});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{-1.5F, 0, 2.75F}));
  EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{-1, 0, 2}));
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{-1, 0, 2}));
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ((x > 0.0).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 0, 1}));
}

// static_cast of a NaN or of 1e300 to an integer is undefined; here it is not.
TEST(ToVector, IntegersSaturateAndNaNIsZero) {
  const Tensor x = from_vector<double>({kNaN, kInfinity, -1e300, 1e10}, {4});
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  constexpr int64_t smallest = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> expected = {0, largest, smallest, 10'000'000'000};
  EXPECT_EQ(x.to_vector<int64_t>(), expected);
  EXPECT_EQ(to(x, DType::i64).to_vector<int64_t>(), expected);
  EXPECT_EQ(x.to_vector<int>()[3], std::numeric_limits<int>::max());
  EXPECT_EQ(x.to_vector<bool>(), (std::vector<bool>{true, true, true, true}));
}

TEST(ToVector, FollowsTheLogicalOrderOfViews) {
  const Tensor x = from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(transpose(x, 0, 1).to_vector<int>(), (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(expand(narrow(x, 1, 0, 1), {2, 2}).to_vector<int>(), (std::vector<int>{1, 1, 4, 4}));
}

TEST(Item, NeedsOneElement) {
  EXPECT_EQ(full({1, 1}, 2.5).item<double>(), 2.5);
  EXPECT_EQ(full({}, 2.5).item<int>(), 2);
  EXPECT_TRUE(full({}, 0.5).item<bool>());
  EXPECT_TRUE(throws<std::invalid_argument>([] { zeros({2}).item<float>(); }, {"[item]", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { zeros({0}).item<float>(); }, {"[item]", "[0]"}));
}

TEST(Data, NeedsTheRightType) {
  const Tensor x = ones({2}, DType::f64);
  EXPECT_EQ(x.data<double>()[1], 1);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { (void)x.data<float>(); }, {"f32", "f64"}));
}

// --- Geometry -----------------------------------------------------------------------------------

TEST(Tensor, SizesAndStrides) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.size(0), 2);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.strides(), (Strides{12, 4, 1}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { (void)x.size(3); }, {"[size]", "dimension 3"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { (void)zeros({}).size(0); }, {"[size]"}));
}

TEST(Tensor, ContiguityIgnoresSizesOfOne) {
  const Tensor x = zeros({2, 3});
  EXPECT_FALSE(transpose(x, 0, 1).is_contiguous());
  EXPECT_TRUE(transpose(zeros({1, 3}), 0, 1).is_contiguous());
  EXPECT_TRUE(narrow(x, 0, 1, 1).is_contiguous());
  EXPECT_FALSE(narrow(x, 1, 0, 2).is_contiguous());
  EXPECT_FALSE(expand(zeros({3}), {2, 3}).is_contiguous());
  EXPECT_TRUE(transpose(zeros({0, 3}), 0, 1).is_contiguous());
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  const Tensor x = test::constant({1, 2});
  const Tensor handle = x;
  EXPECT_TRUE(handle.is_same(x));
  EXPECT_TRUE(shares_storage(x.detach(), x));
  EXPECT_TRUE(shares_storage(x.contiguous(), x));
  const Tensor copy = x.clone();
  EXPECT_FALSE(shares_storage(copy, x));
  x.fill_(7);
  EXPECT_TRUE(has_values(handle, {2}, {7, 7}));
  EXPECT_TRUE(has_values(copy, {2}, {1, 2}));
}

TEST(Tensor, ContiguousCopiesOnlyWhenItMust) {
  const Tensor x = transpose(from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3}), 0, 1);
  const Tensor rows = x.contiguous();
  EXPECT_TRUE(rows.is_contiguous());
  EXPECT_FALSE(shares_storage(rows, x));
  EXPECT_TRUE(has_values(rows, {3, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Tensor, UndefinedOnesSayso) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_TRUE(throws<std::invalid_argument>([&] { (void)none.shape(); }, {"undefined"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { (void)none.numel(); }, {"undefined"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { none.fill_(0); }, {"undefined"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { none.backward(); }, {"undefined"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { (void)(none + ones({1})); }, {"undefined"}));
}

TEST(Tensor, HasAtMostEightDimensions) {
  Tensor x = zeros({1, 1, 1, 1, 1, 1, 1, 2});
  EXPECT_TRUE(throws<std::invalid_argument>([&] { unsqueeze(x, 0); }, {"at most 8"}));
  EXPECT_TRUE(has_values(x, x.shape(), {0, 0}));
}

TEST(Tril, KeepsTheLowerTriangle) {
  const Tensor x = from_vector<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  EXPECT_TRUE(has_values(tril(x), {3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9}));
  EXPECT_TRUE(has_values(tril(x, 1), {3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(has_values(tril(x, -1), {3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0}));
  EXPECT_TRUE(has_values(tril(x, 9), {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(all_zero(tril(x, -9)));
}

TEST(Tril, WorksOnBatchesRectanglesAndBooleans) {
  EXPECT_TRUE(has_values(tril(ones({2, 2, 3})), {2, 2, 3}, {1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0}));
  EXPECT_TRUE(has_values(tril(ones({3, 2})), {3, 2}, {1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(tril(ones({2, 2}, DType::boolean)).dtype(), DType::boolean);
  EXPECT_TRUE(throws<std::invalid_argument>([] { tril(ones({3})); }, {"[tril]", "[3]"}));
}

// An infinity above the diagonal leaves no trace, in value or gradient: it is selected away.
TEST(Tril, NeverReadsWhatItDrops) {
  const Tensor x = test::variable({1, kInfinity, 3, kNaN}, {2, 2});
  const Tensor y = tril(x, -1);
  EXPECT_TRUE(has_values(y, {2, 2}, {0, 0, 3, 0}));
  sum(y).backward();
  EXPECT_TRUE(has_values(x.grad(), {2, 2}, {0, 0, 1, 0}));
}

}  // namespace
}  // namespace lookback
