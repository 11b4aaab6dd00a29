// layer_norm: values by hand, cancellation, optional parameters, frozen inputs, and errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape :
       {Shape{4}, Shape{2, 3}, Shape{2, 3, 5}, Shape{3, 1}, Shape{0, 3}, Shape{40, 6}}) {
    const Shape row{shape.back()};
    const std::string name = shape_name(shape);
    cases.push_back(
        {"plain_" + name, [](const auto& x) { return layer_norm(x[0]); }, inputs_of({shape})});
    cases.push_back({"weight_" + name, [](const auto& x) { return layer_norm(x[0], x[1]); },
                     inputs_of({shape, row})});
    cases.push_back({"bias_" + name, [](const auto& x) { return layer_norm(x[0], {}, x[1]); },
                     inputs_of({shape, row})});
    cases.push_back({"both_" + name, [](const auto& x) { return layer_norm(x[0], x[1], x[2]); },
                     inputs_of({shape, row, row})});
  }
  cases.push_back({"large_eps", [](const auto& x) { return layer_norm(x[0], {}, {}, 1.0); },
                   inputs_of({{2, 4}})});
  cases.push_back({"of_an_expanded_row",
                   [](const auto& x) {
                     return layer_norm(expand(x[0], {3, 4}), x[1], x[1]);
                   },
                   inputs_of({{4}, {4}})});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(LayerNorm, OpTest, testing::ValuesIn(cases()), case_name);

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

TEST(LayerNorm, Values) {
  // mean 4, variance (9 + 1 + 1 + 9) / 4 = 5
  const Tensor x = from_vector<double>({1, 3, 5, 7}, {1, 4});
  const double s = 1 / std::sqrt(5.0);
  EXPECT_TRUE(has_values(layer_norm(x, {}, {}, 0), {1, 4}, {-3 * s, -s, s, 3 * s}, 1e-15));
  const Tensor weight = f64({1, 2, 0, -1});
  const Tensor bias = f64({0, 10, 20, 30});
  EXPECT_TRUE(has_values(layer_norm(x, weight, bias, 0), {1, 4},
                         {-3 * s, 10 - 2 * s, 20, 30 - 3 * s}, 1e-15));
}

TEST(LayerNorm, EpsStandsInsideTheRoot) {
  const Tensor x = from_vector<double>({-1, 1}, {1, 2});  // variance 1
  EXPECT_TRUE(has_values(layer_norm(x, {}, {}, 3), {1, 2}, {-0.5, 0.5}, 1e-15));
}

TEST(LayerNorm, EqualsItsFormula) {
  const Tensor x = numbers({3, 4, 37}, -5, 9);
  const Tensor centred = x - mean(x, -1, true);
  const Tensor expected = centred / sqrt(var(x, -1, true, 0) + 1e-5);
  EXPECT_TRUE(all_close(layer_norm(x), expected, 1e-13));
}

// Mean 1e4, standard deviation 0.06. In float32 the mean itself is known to 0.0005 only, which
// moves the output by up to 0.01; E[x^2] - E[x]^2 would be noise, 1e8 having a spacing of 8.
TEST(LayerNorm, VarianceIsTwoPass) {
  const Tensor x = to(numbers({64}, -0.1, 0.1) + 1e4, DType::f32);
  const Tensor expected = layer_norm(to(x, DType::f64), {}, {}, 0);
  EXPECT_TRUE(all_close(to(layer_norm(x, {}, {}, 0), DType::f64), expected, 1e-2));
}

TEST(LayerNorm, VarianceIsTwoPassInFloat64Too) {
  const Tensor x = numbers({64}, -1e-6, 1e-6) + 1e4;
  const Tensor moved = x - 1e4;  // exact
  EXPECT_TRUE(all_close(layer_norm(x, {}, {}, 0), layer_norm(moved, {}, {}, 0), 1e-5));
}

TEST(LayerNorm, OutputHasMeanZeroAndVarianceOne) {
  const Tensor y = layer_norm(to(numbers({7, 129}, 100, 300), DType::f32));
  EXPECT_TRUE(all_close(mean(y, -1), zeros({7}), 1e-5));
  EXPECT_TRUE(all_close(var(y, -1, false, 0), ones({7}), 1e-4));
}

TEST(LayerNorm, AConstantRowGivesTheBias) {
  const Tensor y = layer_norm(full({2, 3}, 7, DType::f64), f64({1, 2, 3}), f64({4, 5, 6}));
  EXPECT_TRUE(has_values(y, {2, 3}, {4, 5, 6, 4, 5, 6}));
}

TEST(LayerNorm, AConstantRowHasFiniteGradients) {
  const Tensor x = full({1, 3}, 7, DType::f64).set_requires_grad(true);
  const Tensor dx = grad(layer_norm(x), {x}, from_vector<double>({1, 2, 3}, {1, 3}))[0];
  const double s = 1 / std::sqrt(1e-5);
  EXPECT_TRUE(has_values(dx, {1, 3}, {-s, 0, s}, 1e-12));
}

TEST(LayerNorm, GradientIsOrthogonalToOnesAndToTheOutput) {
  const Tensor x = numbers({5, 8}).set_requires_grad(true);
  const Tensor y = layer_norm(x, {}, {}, 0);
  const Tensor dx = grad(y, {x}, numbers({5, 8}, -2, 2, 9))[0];
  EXPECT_TRUE(all_close(sum(dx, -1), zeros({5}, DType::f64), 1e-13));
  EXPECT_TRUE(all_close(sum(dx * y, -1), zeros({5}, DType::f64), 1e-13));
}

TEST(LayerNorm, RowsDoNotDependOnTheirNumber) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x = to(numbers({9, 33}), dtype);
    const Tensor weight = to(numbers({33}, 0, 1, 2), dtype);
    const Tensor whole = layer_norm(x, weight, weight);
    for (const int64_t r : {0, 5, 8}) {
      EXPECT_TRUE(
          same_bits(layer_norm(narrow(x, 0, r, 1), weight, weight), narrow(whole, 0, r, 1)));
    }
  }
}

TEST(LayerNorm, NaNStaysInItsRow) {
  const Tensor x = numbers({3, 5});
  const Tensor expected = layer_norm(x);
  select(select(x, 0, 1), 0, 2).fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor y = layer_norm(x);
  EXPECT_TRUE(all_nan(select(y, 0, 1)));
  EXPECT_TRUE(same_bits(select(y, 0, 0), select(expected, 0, 0)));
  EXPECT_TRUE(same_bits(select(y, 0, 2), select(expected, 0, 2)));
}

TEST(LayerNorm, FrozenInputsNeedNoGradient) {
  const Tensor x = numbers({2, 3});
  const Tensor bias = numbers({3}, -1, 1, 2).set_requires_grad(true);
  const Tensor seed = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_TRUE(has_values(grad(layer_norm(x, {}, bias), {bias}, seed)[0], {3}, {5, 7, 9}));
}

TEST(LayerNorm, FusedAndComposedDerivativesAgree) {
  const Tensor x = numbers({4, 9}).set_requires_grad(true);
  const Tensor weight = numbers({9}, -1, 1, 2).set_requires_grad(true);
  const Tensor bias = numbers({9}, -1, 1, 3).set_requires_grad(true);
  const Tensor seed = numbers({4, 9}, -1, 1, 4);
  const Tensor y = layer_norm(x, weight, bias);
  const auto fused = grad(y, {x, weight, bias}, seed, {.retain_graph = true});
  const auto composed = grad(y, {x, weight, bias}, seed, {.create_graph = true});
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(all_close(fused[i], composed[i], 1e-13)) << i;
}

// --- Errors -------------------------------------------------------------------------------------

TEST(LayerNorm, RefusesParametersThatDoNotFit) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        layer_norm(ones({2, 3}), ones({2}));
      },
      {"[layer_norm]", "weight", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        layer_norm(ones({2, 3}), {}, ones({1, 3}));
      },
      {"[layer_norm]", "bias", "[1, 3]", "[2, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        layer_norm(ones({2, 3}), ones({3}, DType::f64));
      },
      {"[layer_norm]", "weight", "f64", "f32"}));
}

TEST(LayerNorm, RefusesScalarsAndIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { layer_norm(ones({})); }, {"[layer_norm]", "[]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        layer_norm(ones({2, 3}, DType::i64));
      },
      {"[layer_norm]", "i64"}));
}

}  // namespace
}  // namespace lookback::test
