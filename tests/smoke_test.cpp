// Read and run this one first: the engine on one page, from a tensor to a trained line.
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "tests/support/matchers.h"

namespace lookback {
namespace {

using test::has_values;

// A tensor is a shape and numbers, in rows.
TEST(Smoke, TensorsHoldNumbers) {
  const Tensor x = from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(select(x, 0, 1).to_vector<int>(), (std::vector<int>{4, 5, 6}));  // a row: a view of x
}

// An op makes a new tensor. Shapes broadcast: here each row of x meets the same b.
TEST(Smoke, OpsMakeNewTensors) {
  const Tensor x = from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = from_vector<float>({10, 20, 30}, {3});
  EXPECT_TRUE(has_values(x + b, {2, 3}, {11, 22, 33, 14, 25, 36}));
  EXPECT_TRUE(has_values(matmul(x, b), {2}, {140, 320}));
}

// A variable is a tensor whose gradient is wanted. Ops on it are recorded; backward() goes through
// the record in reverse and leaves dL/dx in x.grad(). By hand: L = sum x^2, so dL/dx = 2 x.
TEST(Smoke, BackwardLeavesGradients) {
  const Tensor x = from_vector<double>({1, 2, 3}, {3}).set_requires_grad(true);
  const Tensor L = sum(x * x);
  EXPECT_EQ(L.item<double>(), 14);
  L.backward();
  EXPECT_TRUE(has_values(x.grad(), {3}, {2, 4, 6}));
}

// grad() returns gradients instead of leaving them. With create_graph the gradient is itself
// recorded, and has a gradient: for y = x^3 at 2, y' = 3 x^2 = 12 and y'' = 6 x = 12.
TEST(Smoke, GradientsHaveGradients) {
  const Tensor x = full({}, 2, DType::f64).set_requires_grad(true);
  const Tensor y = x * x * x;
  const Tensor dx = grad(y, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(dx.item<double>(), 12);
  EXPECT_EQ(grad(dx, {x})[0].item<double>(), 12);
}

// Nobody needs to believe a derivative: grad_check compares it with finite differences, element by
// element, and grad_grad_check does the same for the derivative's derivative.
TEST(Smoke, DerivativesAreChecked) {
  Generator generator(1);
  const std::vector<Tensor> inputs = {randn({2, 3}, generator), randn({3, 2}, generator)};
  const TensorFunction fn = [](const std::vector<Tensor>& in) {
    return softmax(matmul(in[0], in[1]), -1);
  };
  const GradCheckResult first = grad_check(fn, inputs);
  const GradCheckResult second = grad_grad_check(fn, inputs);
  EXPECT_TRUE(first) << first.message;
  EXPECT_TRUE(second) << second.message;
}

// All of training: predict, measure, backward, step. The line y = 2 x + 1 is found again.
TEST(Smoke, ALineIsLearned) {
  const Tensor x = from_vector<double>({-2, -1, 0, 1, 2}, {5});
  const Tensor y = x * 2.0 + 1.0;
  const Tensor slope = full({}, 0, DType::f64).set_requires_grad(true);
  const Tensor offset = full({}, 0, DType::f64).set_requires_grad(true);
  for (int step = 0; step < 100; ++step) {
    const Tensor error = slope * x + offset - y;
    mean(error * error).backward();
    const NoGradGuard no_grad;  // a step is not part of the function
    for (const Tensor& p : {slope, offset}) {
      p.copy_(p - p.grad() * 0.1);
      p.zero_grad();
    }
  }
  EXPECT_NEAR(slope.item<double>(), 2, 1e-8);
  EXPECT_NEAR(offset.item<double>(), 1, 1e-8);
}

}  // namespace
}  // namespace lookback
