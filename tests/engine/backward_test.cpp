// backward(): the sweep over graphs of every form, and what it does to .grad().
#include "engine/backward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "engine/node.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;
using test::has_values;
using test::same_bits;
using test::scalar;
using test::throws;
using test::variable;

double grad_of(const Tensor& x) { return x.grad().item<double>(); }

// --- Forms of graphs ----------------------------------------------------------------------------

TEST(Backward, AVariableIsItsOwnGraph) {
  const Tensor x = scalar(3);
  x.backward();
  EXPECT_EQ(grad_of(x), 1);
}

TEST(Backward, FollowsAChain) {
  const Tensor x = scalar(2);
  ((x * 3.0 + 1.0) * 5.0).backward();
  EXPECT_EQ(grad_of(x), 15);
}

TEST(Backward, XTimesXCountsBothSides) {
  const Tensor x = scalar(3);
  (x * x).backward();
  EXPECT_EQ(grad_of(x), 6);
}

// x -> (2 x, x^2) -> 2 x^3: both ways arrive before x's turn, and are summed.
TEST(Backward, SumsOverADiamond) {
  const Tensor x = scalar(3);
  const Tensor left = x * 2.0;
  const Tensor right = x * x;
  (left * right).backward();
  EXPECT_EQ(grad_of(x), 54);
}

// Thirty diamonds in a row have 2^30 paths; the sweep still visits each node once.
TEST(Backward, VisitsEachNodeOnce) {
  const Tensor x = scalar(1);
  Tensor y = x;
  int visits = 0;
  for (int i = 0; i < 30; ++i) {
    const Tensor counted = record("counted", y.clone().detach(), {y}, [&](const Tensor& dy) {
      ++visits;
      return Gradients{dy};
    });
    y = counted + counted;
  }
  y.backward();
  EXPECT_EQ(visits, 30);
  EXPECT_EQ(grad_of(x), std::pow(2.0, 30));
}

TEST(Backward, OneTensorInManyPlaces) {
  const Tensor x = variable({1, 2, 3});
  Tensor y = zeros({}, DType::f64);
  for (int64_t i = 0; i < 3; ++i) y = y + select(x, 0, i) * static_cast<double>(i);
  y = y + sum(x) + sum(x * x) + sum(cat({x, x}));
  y.backward();
  EXPECT_TRUE(has_values(x.grad(), {3}, {5, 8, 11}));  // i + 1 + 2 x + 2
}

TEST(Backward, UnevenPathsMeet) {
  const Tensor x = scalar(2);
  Tensor deep = x;
  for (int i = 0; i < 5; ++i) deep = deep * 2.0;
  (deep * x).backward();  // 32 x^2
  EXPECT_EQ(grad_of(x), 128);
}

TEST(Backward, ReachesEveryLeaf) {
  const Tensor a = scalar(2);
  const Tensor b = scalar(3);
  const Tensor unused = scalar(4);
  const Tensor c = constant({5}, {});
  (a * b * c).backward();
  EXPECT_EQ(grad_of(a), 15);
  EXPECT_EQ(grad_of(b), 10);
  EXPECT_FALSE(unused.grad().defined());
  EXPECT_FALSE(c.grad().defined());
}

// Gradients are summed newest consumer first, whatever the run: the same bits every time.
TEST(Backward, SumsInAFixedOrder) {
  const auto gradient = [] {
    Generator generator(5);
    const Tensor x = randn({64}, generator).set_requires_grad(true);
    Tensor y = zeros({});
    for (int i = 0; i < 20; ++i) y = y + sum(x * randn({64}, generator));
    y.backward();
    return x.grad();
  };
  const Tensor first = gradient();
  for (int run = 0; run < 5; ++run) EXPECT_TRUE(same_bits(gradient(), first));
}

// 1e16 + 1 - 1e16 is 0 or 1, as the order has it. The newest consumer comes first: (-1e16 + 1) +
// 1e16.
TEST(Backward, SumsNewestConsumerFirst) {
  const Tensor x = scalar(1);
  const Tensor a = x * 1e16;
  const Tensor b = x * 1.0;
  const Tensor c = x * -1e16;
  (a + b + c).backward();
  EXPECT_EQ(grad_of(x), (-1e16 + 1.0) + 1e16);
}

// --- .grad() ------------------------------------------------------------------------------------

TEST(Backward, AccumulatesOverCalls) {
  const Tensor x = scalar(3);
  (x * x).backward();
  (x * 2.0).backward();
  EXPECT_EQ(grad_of(x), 8);
}

TEST(Backward, ZeroGradStartsAnew) {
  const Tensor x = scalar(3);
  (x * x).backward();
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
  (x * 2.0).backward();
  EXPECT_EQ(grad_of(x), 2);
}

// Who holds an earlier gradient keeps what he read.
TEST(Backward, NeverChangesAGradientInPlace) {
  const Tensor x = scalar(3);
  (x * x).backward();
  const Tensor earlier = x.grad();
  (x * x).backward();
  EXPECT_EQ(earlier.item<double>(), 6);
  EXPECT_EQ(grad_of(x), 12);
}

TEST(Backward, GradientsOfDifferentLeavesShareNoMemory) {
  const Tensor a = variable({1, 2});
  const Tensor b = variable({3, 4});
  const Tensor seed = constant({1, 1});
  (a + b).backward(seed);
  a.grad().fill_(9);
  EXPECT_TRUE(has_values(b.grad(), {2}, {1, 1}));
  EXPECT_TRUE(has_values(seed, {2}, {1, 1}));
}

TEST(Backward, OnlyLeavesKeepGradients) {
  const Tensor x = scalar(3);
  const Tensor h = x * x;
  (h * 2.0).backward();
  EXPECT_FALSE(h.grad().defined());
  EXPECT_TRUE(x.grad().defined());
}

TEST(Backward, GradientsAreConstants) {
  const Tensor x = scalar(3);
  (x * x).backward();
  EXPECT_FALSE(x.grad().requires_grad());
}

TEST(Backward, KeepsShapeAndDtypeOfTheLeaf) {
  const Tensor x = ones({2, 1}).set_requires_grad(true);
  const Tensor y = to(expand(x, {3, 2, 4}), DType::f64);
  sum(y).backward();
  EXPECT_TRUE(has_values(x.grad(), {2, 1}, {12, 12}));
  EXPECT_EQ(x.grad().dtype(), DType::f32);
}

// --- Seeds --------------------------------------------------------------------------------------

TEST(Seed, WeighsTheOutputs) {
  const Tensor x = variable({1, 2, 3});
  (x * x).backward(constant({1, 10, 100}));
  EXPECT_TRUE(has_values(x.grad(), {3}, {2, 40, 600}));
}

TEST(Seed, MayBeOmittedForOneElementOnly) {
  const Tensor x = variable({1, 2});
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { (x * 2.0).backward(); }, {"[backward]", "seed", "[2]"}));
  const Tensor one = variable({3}, {1, 1});
  (one * 2.0).backward();
  EXPECT_TRUE(has_values(one.grad(), {1, 1}, {2}));
}

TEST(Seed, MustHaveTheOutputsShapeAndDtype) {
  const Tensor x = variable({1, 2});
  const Tensor y = x * 2.0;
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        y.backward(constant({1, 2, 3}));
      },
      {"seed", "[3]", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(constant({1})); }, {"[1]", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(ones({2})); }, {"f32", "f64"}));
  EXPECT_FALSE(x.grad().defined());
  y.backward(constant({1, 2}));  // the failures have freed nothing
  EXPECT_TRUE(has_values(x.grad(), {2}, {2, 4}));
}

TEST(Seed, OfAnEmptyOutput) {
  const Tensor x = variable({}, {0});
  (x * 2.0).backward(zeros({0}, DType::f64));
  EXPECT_EQ(x.grad().shape(), Shape{0});
}

TEST(Backward, OfAConstantIsRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { ones({}).backward(); },
                                            {"[backward]", "does not require a gradient"}));
  const Tensor x = scalar(1);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { x.detach().backward(); }, {"[backward]"}));
}

// --- Freed and retained graphs ------------------------------------------------------------------

TEST(FreedGraph, ASecondBackwardNamesRetainGraph) {
  const Tensor x = scalar(3);
  const Tensor y = x * x;
  y.backward();
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); }, {"retain_graph", "mul"}));
  EXPECT_EQ(grad_of(x), 6);
}

TEST(FreedGraph, AlsoWhenOnlyAPartWasFreed) {
  const Tensor x = scalar(3);
  const Tensor shared = x * x;
  const Tensor a = shared * 2.0;
  const Tensor b = shared + 1.0;
  a.backward();
  EXPECT_TRUE(throws<std::invalid_argument>([&] { b.backward(); }, {"retain_graph"}));
  EXPECT_EQ(grad_of(x), 12);
}

TEST(RetainGraph, AllowsAnotherSweep) {
  const Tensor x = scalar(3);
  const Tensor y = exp(x * x);
  const Tensor one = ones({}, DType::f64);
  y.backward(one, true);
  const double once = grad_of(x);
  y.backward(one, true);
  y.backward(one);
  EXPECT_EQ(grad_of(x), 3 * once);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); }, {"retain_graph"}));
}

TEST(CreateGraph, GivesGradientsThatCanBeDifferentiated) {
  const Tensor x = scalar(3);
  (x * x * x).backward({}, false, true);
  const Tensor dx = x.grad();
  EXPECT_EQ(dx.item<double>(), 27);
  x.zero_grad();
  dx.backward();
  EXPECT_EQ(grad_of(x), 18);
}

}  // namespace
}  // namespace lookback
