// softmax, log_softmax, logsumexp, cross_entropy: values by hand, -infinity, stability, errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<OpCase> cases() {
  const std::vector<std::pair<Shape, int64_t>> places = {
      {{}, 0},         {{1}, 0},       {{5}, -1},      {{2, 3}, 1}, {{2, 3}, 0},
      {{2, 3, 4}, -1}, {{2, 3, 4}, 1}, {{2, 3, 4}, 0}, {{0, 3}, 1}, {{3, 1}, 1}};
  std::vector<OpCase> cases;
  for (const auto& [shape, dim] : places) {
    const std::string where =
        shape_name(shape) + "_dim" + std::to_string(dim + (dim < 0 ? shape.rank() : 0));
    cases.push_back({"softmax_" + where, [dim = dim](const auto& x) { return softmax(x[0], dim); },
                     inputs_of({shape})});
    cases.push_back({"log_softmax_" + where,
                     [dim = dim](const auto& x) { return log_softmax(x[0], dim); },
                     inputs_of({shape})});
    cases.push_back({"logsumexp_" + where,
                     [dim = dim](const auto& x) { return logsumexp(x[0], dim); },
                     inputs_of({shape})});
    cases.push_back({"logsumexp_" + where + "_keepdim",
                     [dim = dim](const auto& x) { return logsumexp(x[0], dim, true); },
                     inputs_of({shape})});
  }
  for (const auto& [N, C] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {4, 2}}) {
    std::vector<int64_t> target;
    for (int64_t i = 0; i < N; ++i) target.push_back((i * 3 + 1) % C);
    cases.push_back({"cross_entropy_" + shape_name({N, C}),
                     [](const auto& x) { return cross_entropy(x[0], x[1]); },
                     {numbers({N, C}), from_vector(target, {N})}});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Softmax, OpTest, testing::ValuesIn(cases()), case_name);

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

Tensor i64(const std::vector<int64_t>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

// --- Values by hand -----------------------------------------------------------------------------

TEST(Softmax, Values) {
  const Tensor x = f64({0, std::log(2.0), std::log(5.0)});
  EXPECT_TRUE(has_values(softmax(x, 0), {3}, {0.125, 0.25, 0.625}, 1e-15));
  EXPECT_TRUE(
      has_values(log_softmax(x, 0), {3}, {-std::log(8.0), -std::log(4.0), std::log(0.625)}, 1e-15));
  EXPECT_TRUE(has_values(logsumexp(x, 0), {}, {std::log(8.0)}, 1e-15));
  EXPECT_TRUE(has_values(softmax(f64({3}), 0), {1}, {1}));
}

TEST(Softmax, WorksAlongAnyDimension) {
  const Tensor x = numbers({3, 4, 5});
  for (const int64_t d : {0, 1, 2}) {
    EXPECT_TRUE(all_close(sum(softmax(x, d), d), ones(sum(x, d).shape(), DType::f64), 1e-14));
    EXPECT_TRUE(all_close(transpose(softmax(transpose(x, d, 2), 2), d, 2), softmax(x, d), 1e-15));
  }
}

TEST(Softmax, GradientByHand) {
  // y = (1/4, 3/4), dy = (1, 0): sum y dy = 1/4, dx = y (dy - 1/4)
  const Tensor x = f64({0, std::log(3.0)}).set_requires_grad(true);
  EXPECT_TRUE(has_values(grad(softmax(x, 0), {x}, f64({1, 0}))[0], {2}, {0.1875, -0.1875}, 1e-15));
  EXPECT_TRUE(has_values(grad(log_softmax(x, 0), {x}, f64({1, 0}))[0], {2}, {0.75, -0.75}, 1e-15));
  EXPECT_TRUE(has_values(grad(logsumexp(x, 0), {x})[0], {2}, {0.25, 0.75}, 1e-15));
}

TEST(Softmax, CrossEntropyByHand) {
  const Tensor logits =
      from_vector<double>({0, std::log(3.0), std::log(7.0), 0}, {2, 2}).set_requires_grad(true);
  const Tensor loss = cross_entropy(logits, i64({1, 1}));
  EXPECT_TRUE(has_values(loss, {}, {(std::log(4.0 / 3) + std::log(8.0)) / 2}, 1e-15));
  EXPECT_TRUE(has_values(grad(loss, {logits})[0], {2, 2}, {0.125, -0.125, 0.4375, -0.4375}, 1e-15));
}

TEST(Softmax, CrossEntropyIsTheMeanOfChosenLogProbabilities) {
  const Tensor logits = numbers({6, 9}, -5, 5);
  const Tensor target = i64({8, 0, 3, 3, 5, 1});
  const Tensor chosen = gather(log_softmax(logits, 1), 1, unsqueeze(target, 1));
  EXPECT_TRUE(all_close(cross_entropy(logits, target), neg(mean(chosen)), 1e-14));
}

TEST(Softmax, CrossEntropyOfUniformLogitsIsLogOfTheClasses) {
  EXPECT_NEAR(cross_entropy(zeros({4, 65}), i64({0, 64, 3, 3})).item<double>(), std::log(65.0),
              1e-6);
}

// --- Masked scores ------------------------------------------------------------------------------

TEST(Softmax, MinusInfinityGetsExactlyZero) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = to(f64({-kInfinity, 0, -kInfinity, std::log(3.0)}), dtype);
    EXPECT_TRUE(has_values(softmax(x, 0), {4}, {0, 0.25, 0, 0.75}, 1e-7));
    EXPECT_TRUE(all_zero(select(softmax(x, 0), 0, 0)));
    EXPECT_TRUE(all_zero(select(softmax(x, 0), 0, 2)));
    EXPECT_TRUE(has_values(narrow(log_softmax(x, 0), 0, 0, 1), {1}, {-kInfinity}));
  }
}

TEST(Softmax, MinusInfinityGetsAGradientOfExactlyZero) {
  const Tensor x = f64({-kInfinity, 0, 1}).set_requires_grad(true);
  const Tensor dx = grad(softmax(x, 0), {x}, f64({5, 2, 1}))[0];
  EXPECT_TRUE(all_zero(select(dx, 0, 0)));
  EXPECT_NEAR(sum(dx).item<double>(), 0, 1e-15);
  EXPECT_TRUE(all_zero(select(grad(logsumexp(x, 0), {x})[0], 0, 0)));
}

TEST(Softmax, ARowOfMinusInfinityIsNaN) {
  for (const int64_t n : {1, 3, 40}) {
    const Tensor x = full({n}, -kInfinity, DType::f64);
    EXPECT_TRUE(all_nan(softmax(x, 0)));
    EXPECT_TRUE(all_nan(log_softmax(x, 0)));
    EXPECT_TRUE(has_values(logsumexp(x, 0), {}, {-kInfinity}));
    EXPECT_TRUE(all_nan(softmax(to(x, DType::f32), 0)));
  }
}

TEST(Softmax, ARowOfMinusInfinityHurtsNoOtherRow) {
  const Tensor x = numbers({3, 5});
  const Tensor expected = softmax(x, 1);
  select(x, 0, 1).fill_(-kInfinity);
  const Tensor y = softmax(x, 1);
  EXPECT_TRUE(all_nan(select(y, 0, 1)));
  EXPECT_TRUE(same_bits(select(y, 0, 0), select(expected, 0, 0)));
  EXPECT_TRUE(same_bits(select(y, 0, 2), select(expected, 0, 2)));
}

TEST(Softmax, PlusInfinityAndNaNGiveNaN) {
  EXPECT_TRUE(all_nan(softmax(f64({0, kNaN, 1}), 0)));
  EXPECT_TRUE(all_nan(logsumexp(f64({0, kNaN, 1}), 0)));
  EXPECT_TRUE(all_nan(select(softmax(f64({0, kInfinity}), 0), 0, 1)));
  EXPECT_TRUE(has_values(logsumexp(f64({0, kInfinity}), 0), {}, {kInfinity}));
}

// Entries after the last allowed one change no bit: the rule behind the causal proofs.
TEST(Softmax, TrailingMinusInfinitiesChangeNoBit) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = to(numbers({4, 70}, -5, 5), dtype);
    for (const int64_t n : {1, 7, 16, 33, 64, 69}) {
      const Tensor kept = narrow(x, 1, 0, n);
      const Tensor padded = cat({kept, full({4, 70 - n}, -kInfinity, dtype)}, 1);
      EXPECT_TRUE(same_bits(narrow(softmax(padded, 1), 1, 0, n), softmax(kept, 1))) << n;
      EXPECT_TRUE(same_bits(logsumexp(padded, 1), logsumexp(kept, 1))) << n;
    }
  }
}

// --- Stability ----------------------------------------------------------------------------------

TEST(Softmax, HugeScoresDoNotOverflow) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = full({1, 2}, 1e30, dtype);
    EXPECT_TRUE(has_values(softmax(x, 1), {1, 2}, {0.5, 0.5}));
    EXPECT_TRUE(has_values(softmax(x * -1.0, 1), {1, 2}, {0.5, 0.5}));
    EXPECT_TRUE(has_values(log_softmax(to(f64({0, 1000}), dtype), 0), {2}, {-1000, 0}));
    EXPECT_TRUE(
        has_values(logsumexp(to(f64({1000, 1000}), dtype), 0), {}, {1000 + std::log(2.0)}, 1e-7));
    EXPECT_TRUE(has_values(
        cross_entropy(to(from_vector<double>({1000, 0}, {1, 2}), dtype), i64({1})), {}, {1000}));
  }
}

TEST(Softmax, AddingAConstantToARowChangesNothing) {
  const Tensor x = numbers({3, 7});
  EXPECT_TRUE(all_close(softmax(x + 64.0, 1), softmax(x, 1), 1e-13));
  EXPECT_TRUE(all_close(log_softmax(x + 64.0, 1), log_softmax(x, 1), 1e-13));
}

TEST(Softmax, RowsDoNotDependOnTheirNumber) {
  const Tensor x = to(numbers({9, 33}), DType::f32);
  for (const int64_t r : {0, 5, 8}) {
    const Tensor row = narrow(x, 0, r, 1);
    EXPECT_TRUE(same_bits(softmax(row, 1), narrow(softmax(x, 1), 0, r, 1)));
    EXPECT_TRUE(same_bits(log_softmax(row, 1), narrow(log_softmax(x, 1), 0, r, 1)));
  }
}

// --- Nothing ------------------------------------------------------------------------------------

TEST(Softmax, OfNothing) {
  EXPECT_EQ(softmax(ones({2, 0}), 1).shape(), (Shape{2, 0}));
  EXPECT_EQ(log_softmax(ones({0, 4}), 1).shape(), (Shape{0, 4}));
  EXPECT_TRUE(has_values(logsumexp(ones({2, 0}), 1), {2}, {-kInfinity, -kInfinity}));
  EXPECT_TRUE(all_nan(cross_entropy(ones({0, 4}), zeros({0}, DType::i64))));
}

// --- Errors -------------------------------------------------------------------------------------

TEST(Softmax, RefusesDimensionsOutOfRange) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(throws<std::out_of_range>([&] { softmax(x, 2); }, {"[softmax]", "dimension 2"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { log_softmax(x, -3); }, {"[log_softmax]", "-3"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { logsumexp(x, 2); }, {"[logsumexp]", "2"}));
}

TEST(Softmax, RefusesIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { softmax(arange(3), 0); }, {"[softmax]", "i64"}));
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { log_softmax(arange(3), 0); }, {"[log_softmax]", "i64"}));
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { logsumexp(arange(3), 0); }, {"[logsumexp]", "i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cross_entropy(zeros({2, 3}, DType::i64), i64({0, 1}));
      },
      {"[cross_entropy]", "i64"}));
}

TEST(Softmax, CrossEntropyOfLargeLogitsLosesNoDigits) {
  const Tensor target = from_vector<int64_t>({2, 0}, {2});
  const Tensor near = from_vector<float>({0, 1.5, -2, 0.25, 3, 1}, {2, 3}).set_requires_grad(true);
  const Tensor far = (near.detach() + 4096.0).set_requires_grad(true);  // exact
  const Tensor loss_near = cross_entropy(near, target);
  const Tensor loss_far = cross_entropy(far, target);
  EXPECT_TRUE(same_bits(loss_far, loss_near));
  EXPECT_TRUE(same_bits(grad(loss_far, {far})[0], grad(loss_near, {near})[0]));
}

TEST(Softmax, CrossEntropyRefusesShapesThatDoNotFit) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cross_entropy(ones({2, 3}), i64({0}));
      },
      {"[cross_entropy]", "[2, 3]", "[1]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cross_entropy(ones({3}), i64({0, 1, 2}));
      },
      {"[cross_entropy]", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cross_entropy(ones({2, 3}), ones({2}));
      },
      {"[cross_entropy]", "i64", "f32"}));
}

TEST(Softmax, CrossEntropyRefusesTargetsOutOfRange) {
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        cross_entropy(ones({2, 3}), i64({0, 3}));
      },
      {"[cross_entropy]", "target 3", "row 1", "3 classes"}));
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        cross_entropy(ones({2, 3}), i64({-1, 0}));
      },
      {"[cross_entropy]", "target -1", "row 0"}));
}

}  // namespace
}  // namespace lookback::test
