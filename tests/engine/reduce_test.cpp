// sum, max, min, argmax: values by hand, dimensions, nothing, ties, accuracy and errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

using Reduction = Tensor (*)(const Tensor&, const Dims&, bool);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Which dimensions of which shape, and the name of that.
struct Choice {
  std::string name;
  Shape shape;
  Dims dims;
};

std::vector<Choice> choices() {
  return {{"scalar", {}, {}},
          {"one", {1}, 0},
          {"all_of_2x3", {2, 3}, {}},
          {"rows_of_2x3", {2, 3}, -1},
          {"columns_of_2x3", {2, 3}, 0},
          {"first_and_last_of_2x3x4", {2, 3, 4}, {0, -1}},
          {"middle_of_2x3x4", {2, 3, 4}, 1},
          {"first_two_of_2x3x4", {2, 3, 4}, {1, 0}},
          {"size_one_of_3x1", {3, 1}, 1},
          {"rows_of_0x3", {0, 3}, 1}};
}

std::vector<OpCase> cases() {
  const std::vector<std::pair<std::string, Reduction>> reductions = {
      {"sum", sum}, {"max", max}, {"min", min}};
  std::vector<OpCase> cases;
  for (const auto& [name, op] : reductions) {
    for (const auto& [choice, shape, dims] : choices()) {
      for (const bool keepdim : {false, true}) {
        cases.push_back(
            {name + "_" + choice + (keepdim ? "_keepdim" : ""),
             [op = op, dims = dims, keepdim](const auto& x) { return op(x[0], dims, keepdim); },
             inputs_of({shape})});
      }
    }
  }
  cases.push_back(
      {"sum_columns_of_0x3", [](const auto& x) { return sum(x[0], 0); }, inputs_of({{0, 3}})});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Reduce, OpTest, testing::ValuesIn(cases()), case_name);

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

Tensor two_by_three() { return from_vector<double>({1, 5, 3, 4, 2, 6}, {2, 3}); }

// --- Values by hand -----------------------------------------------------------------------------

TEST(Reduce, Sum) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(has_values(sum(x), {}, {21}));
  EXPECT_TRUE(has_values(sum(x, 0), {3}, {5, 7, 9}));
  EXPECT_TRUE(has_values(sum(x, 1), {2}, {9, 12}));
  EXPECT_TRUE(has_values(sum(x, -1, true), {2, 1}, {9, 12}));
  EXPECT_TRUE(has_values(sum(x, {0, 1}, true), {1, 1}, {21}));
}

TEST(Reduce, MaxAndMin) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(has_values(max(x), {}, {6}));
  EXPECT_TRUE(has_values(max(x, 0), {3}, {4, 5, 6}));
  EXPECT_TRUE(has_values(max(x, 1, true), {2, 1}, {5, 6}));
  EXPECT_TRUE(has_values(min(x), {}, {1}));
  EXPECT_TRUE(has_values(min(x, 0), {3}, {1, 2, 3}));
  EXPECT_TRUE(has_values(min(x, 1), {2}, {1, 2}));
}

TEST(Reduce, Argmax) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(has_values(argmax(x), {}, {5}));
  EXPECT_TRUE(has_values(argmax(x, 0), {3}, {1, 0, 1}));
  EXPECT_TRUE(has_values(argmax(x, 1), {2}, {1, 2}));
  EXPECT_TRUE(has_values(argmax(x, -1, true), {2, 1}, {1, 2}));
  EXPECT_EQ(argmax(x, 0).dtype(), DType::i64);
}

TEST(Reduce, ArgmaxOfViewsCountsInTheView) {
  EXPECT_TRUE(has_values(argmax(transpose(two_by_three(), 0, 1)), {}, {5}));
  EXPECT_TRUE(has_values(argmax(transpose(two_by_three(), 0, 1), 1), {3}, {1, 0, 1}));
}

TEST(Reduce, ArgmaxTakesTheFirstOfEquals) {
  EXPECT_TRUE(has_values(argmax(f64({1, 7, 7, 7})), {}, {1}));
  EXPECT_TRUE(has_values(argmax(full({40}, -kInfinity)), {}, {0}));
}

TEST(Reduce, NaNWins) {
  for (const int64_t at : {0, 1, 17, 39}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensor x = to(numbers({40}), dtype);
      select(x, 0, at).fill_(kNaN);
      EXPECT_TRUE(all_nan(max(x)));
      EXPECT_TRUE(all_nan(min(x)));
      EXPECT_TRUE(all_nan(sum(x)));
      EXPECT_TRUE(has_values(argmax(x), {}, {static_cast<double>(at)}));
    }
  }
}

TEST(Reduce, Infinities) {
  EXPECT_TRUE(has_values(max(f64({-kInfinity, -kInfinity})), {}, {-kInfinity}));
  EXPECT_TRUE(has_values(min(f64({1, -kInfinity})), {}, {-kInfinity}));
  EXPECT_TRUE(has_values(sum(f64({1, kInfinity})), {}, {kInfinity}));
  EXPECT_TRUE(all_nan(sum(f64({-kInfinity, kInfinity}))));
}

TEST(Reduce, Integers) {
  const Tensor x = from_vector<int64_t>({9007199254740993, 2, -5, 4}, {2, 2});  // 2^53 + 1
  EXPECT_EQ(sum(x).item<int64_t>(), 9007199254740994);
  EXPECT_EQ(sum(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{9007199254740988, 6}));
  EXPECT_EQ(max(x).item<int64_t>(), 9007199254740993);
  EXPECT_EQ(min(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{2, -5}));
  EXPECT_EQ(argmax(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{0, 1}));
}

TEST(Reduce, SumCountsBooleans) {
  const Tensor y = sum(from_vector<bool>({true, false, true, true}, {2, 2}), 1);
  EXPECT_EQ(y.dtype(), DType::i64);
  EXPECT_TRUE(has_values(y, {2}, {1, 2}));
}

// --- Nothing ------------------------------------------------------------------------------------

TEST(Reduce, SumOfNothingIsZero) {
  EXPECT_TRUE(has_values(sum(ones({0})), {}, {0}));
  EXPECT_TRUE(has_values(sum(ones({0, 3}), 0), {3}, {0, 0, 0}));
  EXPECT_TRUE(has_values(sum(ones({3, 0}), 1), {3}, {0, 0, 0}));
  EXPECT_EQ(sum(ones({3, 0}), 0).shape(), (Shape{0}));
  EXPECT_TRUE(has_values(sum(zeros({0}, DType::i64)), {}, {0}));
}

TEST(Reduce, ExtremesOfNothingAreErrors) {
  const Tensor nothing = ones({2, 0});
  EXPECT_TRUE(throws<std::invalid_argument>([&] { max(nothing); }, {"[max]", "[2, 0]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { min(nothing, 1); }, {"[min]", "[2, 0]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { argmax(nothing, 1); }, {"[argmax]", "[2, 0]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { argmax(nothing); }, {"[argmax]"}));
}

TEST(Reduce, ExtremesOfNoRowsAreNoRows) {
  EXPECT_EQ(max(ones({2, 0}), 0).shape(), (Shape{0}));
  EXPECT_EQ(argmax(ones({2, 0}), 0).shape(), (Shape{0}));
}

// --- Ties ---------------------------------------------------------------------------------------

TEST(Reduce, TiesShareTheGradientEvenly) {
  const Tensor x = from_vector<double>({7, 7, 1, 7, 2, 2}, {2, 3}).set_requires_grad(true);
  EXPECT_TRUE(
      has_values(grad(max(x), {x}, full({}, 6, DType::f64))[0], {2, 3}, {2, 2, 0, 2, 0, 0}));
  EXPECT_TRUE(has_values(grad(max(x, 1), {x}, f64({6, 5}))[0], {2, 3}, {3, 3, 0, 5, 0, 0}));
  EXPECT_TRUE(has_values(grad(max(x, 0), {x}, f64({8, 6, 4}))[0], {2, 3}, {4, 6, 0, 4, 0, 4}));
  EXPECT_TRUE(has_values(grad(min(x, 1), {x}, f64({6, 5}))[0], {2, 3}, {0, 0, 6, 0, 2.5, 2.5}));
}

TEST(Reduce, GradientOfTiesSumsToTheSeed) {
  const Tensor x = full({7}, -kInfinity, DType::f64).set_requires_grad(true);
  const Tensor dx = grad(max(x), {x}, full({}, 3, DType::f64))[0];
  EXPECT_NEAR(sum(dx).item<double>(), 3, 1e-15);
}

TEST(Reduce, ExtremesSelectTheirGradient) {
  const Tensor x = f64({1, 2, 3}).set_requires_grad(true);
  EXPECT_TRUE(
      has_values(grad(max(x), {x}, full({}, kInfinity, DType::f64))[0], {3}, {0, 0, kInfinity}));
}

// --- Accuracy and size --------------------------------------------------------------------------

// 0.1f ten million times: a running float32 sum would be off by ten per cent.
TEST(Reduce, Float32SumOfTenMillionIsAccurate) {
  const int64_t n = 10000000;
  const double exact = static_cast<double>(0.1F) * static_cast<double>(n);
  const Tensor x = expand(full({1}, 0.1), {n});
  EXPECT_NEAR(sum(x.contiguous()).item<double>() / exact, 1, 1e-6);
}

TEST(Reduce, Float32ColumnSumsOfManyRowsAreAccurate) {
  const int64_t n = 1000000;
  const double exact = static_cast<double>(0.1F) * static_cast<double>(n);
  const Tensor y = sum(expand(full({1, 1}, 0.1), {n, 3}).contiguous(), 0);
  for (const double value : y.to_vector<double>()) EXPECT_NEAR(value / exact, 1, 1e-6);
}

TEST(Reduce, SumsOfRowsDoNotDependOnTheirNumber) {
  const Tensor x = to(numbers({9, 1000}), DType::f32);
  const Tensor whole = sum(x, 1);
  for (const int64_t r : {0, 4, 8}) {
    EXPECT_TRUE(same_bits(sum(narrow(x, 0, r, 1), 1), narrow(whole, 0, r, 1)));
  }
}

TEST(Reduce, GradientOfASumIsAViewThatCostsNothing) {
  const Tensor x = ones({2, 3}, DType::f64).set_requires_grad(true);
  const Tensor dx = grad(sum(x, 0), {x}, f64({1, 2, 3}))[0];
  EXPECT_TRUE(has_values(dx, {2, 3}, {1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(dx.strides(), (Strides{0, 1}));
}

// --- Errors -------------------------------------------------------------------------------------

TEST(Reduce, RefusesDimensionsOutOfRange) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(throws<std::out_of_range>([&] { sum(x, 2); }, {"[sum]", "dimension 2", "2 dim"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { max(x, -3); }, {"[max]", "dimension -3"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { min(x, {0, 5}); }, {"[min]", "dimension 5"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { argmax(x, 2); }, {"[argmax]", "dimension 2"}));
}

TEST(Reduce, RefusesTheSameDimensionTwice) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(throws<std::invalid_argument>([&] { sum(x, {0, 0}); }, {"[sum]", "distinct"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { max(x, {1, -1}); }, {"[max]", "[1, -1]"}));
}

TEST(Reduce, ExtremesRefuseBooleans) {
  const Tensor x = ones({2}, DType::boolean);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { max(x); }, {"[max]", "boolean"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { argmax(x); }, {"[argmax]", "boolean"}));
}

}  // namespace
}  // namespace lookback::test
