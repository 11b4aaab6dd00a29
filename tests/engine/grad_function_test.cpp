// grad(): gradients as values, of any inputs, of any order.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;
using test::has_values;
using test::scalar;
using test::throws;
using test::variable;

double first_grad(const Tensor& y, const Tensor& x, GradOptions options = {}) {
  return grad(y, {x}, {}, options)[0].item<double>();
}

TEST(Grad, ReturnsOnePerInputInTheirOrder) {
  const Tensor a = scalar(2);
  const Tensor b = scalar(3);
  const std::vector<Tensor> gradients = grad(a * b * b, {b, a, b});
  ASSERT_EQ(gradients.size(), 3U);
  EXPECT_EQ(gradients[0].item<double>(), 12);
  EXPECT_EQ(gradients[1].item<double>(), 9);
  EXPECT_EQ(gradients[2].item<double>(), 12);
}

TEST(Grad, TouchesNoStoredGradient) {
  const Tensor a = scalar(2);
  const Tensor b = scalar(3);
  (a * 5.0).backward();
  grad(a * b, {a, b});
  EXPECT_EQ(a.grad().item<double>(), 5);
  EXPECT_FALSE(b.grad().defined());
}

TEST(Grad, OfAnUnusedInputIsUndefined) {
  const Tensor x = scalar(2);
  const Tensor newer = scalar(3);
  const Tensor y = x * x;
  const Tensor newest = scalar(4);
  const std::vector<Tensor> gradients = grad(y, {newer, x, newest});
  EXPECT_FALSE(gradients[0].defined());
  EXPECT_EQ(gradients[1].item<double>(), 4);
  EXPECT_FALSE(gradients[2].defined());
}

TEST(Grad, OfAnInputThatIsTheOutputIsTheSeed) {
  const Tensor x = variable({1, 2});
  const Tensor seed = constant({3, 4});
  EXPECT_TRUE(has_values(grad(x, {x}, seed)[0], {2}, {3, 4}));
  const Tensor y = x * 2.0;
  EXPECT_TRUE(has_values(grad(y, {y}, seed)[0], {2}, {3, 4}));
}

TEST(Grad, AcceptsResultsAsInputs) {
  const Tensor x = scalar(2);
  const Tensor h = x * x;
  const Tensor y = h * h;
  const std::vector<Tensor> gradients = grad(y, {h, x});
  EXPECT_EQ(gradients[0].item<double>(), 8);
  EXPECT_EQ(gradients[1].item<double>(), 32);
}

// The chain rule, one link at a time: what lies before h is neither run nor freed by the first.
TEST(Grad, StopsAtItsOldestInput) {
  const Tensor x = scalar(2);
  const Tensor h = x * x;
  const Tensor y = exp(h * 0.0) * h;
  const Tensor dh = grad(y, {h})[0];
  h.backward(dh);
  EXPECT_EQ(x.grad().item<double>(), 4);
}

TEST(Grad, WithoutInputsRunsNothing) {
  const Tensor y = scalar(2) * 3.0;
  EXPECT_TRUE(grad(y, {}).empty());
  EXPECT_NO_THROW(y.backward());
}

TEST(Grad, RefusesConstants) {
  const Tensor x = scalar(2);
  const Tensor c = constant({1});
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        grad(x * x, {x, c});
      },
      {"[grad]", "input 1", "[1]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(c, {x}); }, {"nothing was recorded"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(x * x, {Tensor()}); }, {"undefined"}));
}

TEST(Grad, ChecksTheSeed) {
  const Tensor x = variable({1, 2});
  const Tensor y = x * x;
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(y, {x}); }, {"seed", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(y, {x}, constant({1})); }, {"[1]", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(y, {x}, ones({2})); }, {"f32", "f64"}));
  EXPECT_TRUE(has_values(grad(y, {x}, constant({1, 10}))[0], {2}, {2, 40}));
}

TEST(Grad, FreesTheGraphUnlessRetained) {
  const Tensor x = scalar(3);
  const Tensor y = x * x;
  EXPECT_EQ(first_grad(y, x, {.retain_graph = true}), 6);
  EXPECT_EQ(first_grad(y, x), 6);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { grad(y, {x}); }, {"retain_graph"}));
}

TEST(Grad, IsAConstantUnlessCreated) {
  const Tensor x = scalar(3);
  const Tensor seed = scalar(1);  // a seed that requires a gradient does not change that
  EXPECT_FALSE(grad(x * x, {x}, seed)[0].requires_grad());
  EXPECT_FALSE(grad(x + 1.0, {x}, seed)[0].requires_grad());
  EXPECT_TRUE(grad(x * x, {x}, seed, {.create_graph = true})[0].requires_grad());
}

// --- Higher orders ------------------------------------------------------------------------------

// x^4 at 2: 4 x^3 = 32, 12 x^2 = 48, 24 x = 48, 24, 0.
TEST(HigherOrder, ThirdDerivativeAndBeyond) {
  const Tensor x = scalar(2);
  const std::vector<double> expected = {32, 48, 48, 24};
  Tensor y = x * x * x * x;
  for (const double value : expected) {
    y = grad(y, {x}, {}, {.create_graph = true})[0];
    EXPECT_DOUBLE_EQ(y.item<double>(), value);
  }
}

TEST(HigherOrder, OfAPower) {
  const Tensor x = scalar(2);
  const GradOptions create = {.create_graph = true};
  const Tensor first = grad(pow(x, 4), {x}, {}, create)[0];
  const Tensor second = grad(first, {x}, {}, create)[0];
  EXPECT_DOUBLE_EQ(first.item<double>(), 32);
  EXPECT_DOUBLE_EQ(second.item<double>(), 48);
  EXPECT_DOUBLE_EQ(first_grad(second, x), 48);
}

TEST(HigherOrder, CreateGraphRetainsTheGraph) {
  const Tensor x = scalar(3);
  const Tensor y = x * x * x;
  const GradOptions create = {.create_graph = true};
  EXPECT_EQ(first_grad(y, x, create), 27);
  EXPECT_EQ(first_grad(y, x, create), 27);
  EXPECT_EQ(first_grad(y, x), 27);
}

// d(dL/da)/db of L = a b^2
TEST(HigherOrder, MixedDerivatives) {
  const Tensor a = scalar(2);
  const Tensor b = scalar(3);
  const Tensor da = grad(a * b * b, {a}, {}, {.create_graph = true})[0];
  EXPECT_EQ(first_grad(da, b, {.retain_graph = true}), 6);
  EXPECT_FALSE(grad(da, {a})[0].defined());
}

// The derivative with respect to the seed is the Jacobian times a vector: forward mode by two
// sweeps. For y = x^2, dx = 2 x seed, and d(v dx)/dseed = 2 x v.
TEST(HigherOrder, ThroughTheSeed) {
  const Tensor x = variable({1, 2, 3});
  const Tensor seed = variable({0, 0, 0});
  const Tensor dx = grad(x * x, {x}, seed, {.create_graph = true})[0];
  const Tensor v = constant({1, 10, 100});
  EXPECT_TRUE(has_values(grad(dx, {seed}, v)[0], {3}, {2, 40, 600}));
}

// A penalty on the gradient, as in training: the second sweep reaches the leaves.
TEST(HigherOrder, AGradientPenaltyTrains) {
  const Tensor x = variable({1, 2});
  const Tensor dx = grad(sum(x * x * x), {x}, {}, {.create_graph = true})[0];
  sum(dx * dx).backward();  // sum of 9 x^4, so 36 x^3
  EXPECT_TRUE(has_values(x.grad(), {2}, {36, 288}));
}

TEST(HigherOrder, RecordsEvenUnderNoGradGuard) {
  const Tensor x = scalar(3);
  const Tensor y = x * x;
  const NoGradGuard no_grad;
  const Tensor dx = grad(y, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(first_grad(dx, x), 2);
}

}  // namespace
}  // namespace lookback
