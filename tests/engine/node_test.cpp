// Nodes: what an op records, in what order, and that nothing outlives its tensors.
#include "engine/node.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;
using test::has_values;
using test::variable;

TEST(Node, RecordsOpParentsShapeAndDtype) {
  const Tensor a = variable({1, 2}, {2, 1});
  const Tensor b = variable({3, 4, 5});
  const Tensor y = a * b;
  const Node& node = *y.node();
  EXPECT_STREQ(node.op, "mul");
  ASSERT_EQ(node.parents.size(), 2U);
  EXPECT_EQ(node.parents[0], a.node());
  EXPECT_EQ(node.parents[1], b.node());
  EXPECT_EQ(node.shape, (Shape{2, 3}));
  EXPECT_EQ(node.dtype, DType::f64);
  EXPECT_TRUE(node.backward != nullptr);
  EXPECT_FALSE(node.is_leaf());
}

TEST(Node, ALeafHasNoParentsAndNoClosure) {
  const Tensor x = variable({1});
  EXPECT_STREQ(x.node()->op, "leaf");
  EXPECT_TRUE(x.node()->is_leaf());
  EXPECT_TRUE(x.node()->backward == nullptr);
  EXPECT_EQ(constant({1}).node(), nullptr);
}

// The order of parents is the order of arguments; a constant keeps its place as null.
TEST(Node, ParentsFollowTheArguments) {
  const Tensor x = variable({1, 2});
  const Tensor c = constant({3, 4});
  EXPECT_EQ((c - x).node()->parents[0], nullptr);
  EXPECT_EQ((c - x).node()->parents[1], x.node());
  EXPECT_EQ((x * x).node()->parents[0], (x * x).node()->parents[1]);
  const Tensor joined = cat({x, c, x * 2.0});
  ASSERT_EQ(joined.node()->parents.size(), 3U);
  EXPECT_EQ(joined.node()->parents[0], x.node());
  EXPECT_EQ(joined.node()->parents[1], nullptr);
  EXPECT_STREQ(joined.node()->parents[2]->op, "mul");
}

TEST(Node, AChildIsNewerThanItsParents) {
  const Tensor x = variable({1, 2});
  const Tensor y = exp(x);
  const Tensor z = variable({3, 4});
  const Tensor w = y * z;
  EXPECT_LT(x.node()->sequence, y.node()->sequence);
  EXPECT_LT(y.node()->sequence, w.node()->sequence);
  EXPECT_LT(z.node()->sequence, w.node()->sequence);
}

TEST(Node, ConstantsRecordNothing) {
  const int64_t before = Node::live_count();
  const Tensor y = softmax(matmul(ones({2, 3}), ones({3, 2})), -1);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.is_leaf());
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Node, WhatCannotBeDifferentiatedIsNotRecorded) {
  const Tensor x = variable({1, 2});
  EXPECT_FALSE((x > 1.0).requires_grad());
  EXPECT_FALSE(argmax(x).requires_grad());
  EXPECT_FALSE(to(x, DType::i64).requires_grad());
  EXPECT_FALSE(x.detach().requires_grad());
}

// A reader's own op needs nothing but record().
TEST(Record, MakesAnOpOfAnyFunction) {
  const Tensor x = variable({1, 2, 3});
  const Tensor doubled = record("double", (x * 2.0).detach(), {x},
                                [](const Tensor& dy) { return Gradients{dy * 2.0}; });
  sum(doubled * doubled).backward();  // (2 x)^2
  EXPECT_TRUE(has_values(x.grad(), {3}, {8, 16, 24}));
}

TEST(Record, AClosureMayAskForItsResult) {
  const Tensor x = variable({3});
  const Tensor y = record(
      "square_root", full({1}, 3, DType::f64), {x},
      [](const Tensor& dy, const Tensor& result) -> Gradients { return {dy / (result * 2.0)}; });
  EXPECT_TRUE(has_values(grad(y, {x})[0], {1}, {1.0 / 6.0}));
}

// --- Lifetimes ----------------------------------------------------------------------------------

// softmax, exp and sqrt save their own output, mul and matmul their inputs, where a condition.
Tensor busy_graph(const Tensor& x) {
  const Tensor y = softmax(exp(x) * x, -1);
  return sum(sqrt(where(x > 0.0, y, y * y)) + tanh(matmul(y, transpose(x, 0, 1))));
}

TEST(Lifetime, TenThousandGraphsLeaveNoNode) {
  const int64_t before = Node::live_count();
  for (int i = 0; i < 10'000; ++i) {
    const Tensor x = variable({0.5, 1, 1.5, 2}, {2, 2});
    const Tensor y = busy_graph(x);
    if (i % 2 == 0) y.backward();
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Lifetime, RetainedAndCreatedGraphsAreFreedToo) {
  const int64_t before = Node::live_count();
  for (int i = 0; i < 200; ++i) {
    const Tensor x = variable({0.5, 1, 1.5, 2}, {2, 2});
    const Tensor y = busy_graph(x);
    const Tensor dx = grad(y, {x}, {}, {.create_graph = true})[0];
    const Tensor ddx = grad(sum(dx * dx), {x}, {}, {.retain_graph = true})[0];
    if (i % 2 == 0) y.backward({}, true);
  }
  EXPECT_EQ(Node::live_count(), before);
}

// backward.h says so: a .grad() that is itself recorded owns its leaf, until zero_grad().
TEST(Lifetime, ZeroGradEndsTheCircleOfARecordedGradient) {
  const int64_t before = Node::live_count();
  {
    const Tensor x = variable({2});
    (x * x).backward({}, false, true);
    EXPECT_TRUE(x.grad().requires_grad());
    x.zero_grad();
  }
  EXPECT_EQ(Node::live_count(), before);
}

TEST(Lifetime, BackwardFreesWhatTheClosuresSaved) {
  const Tensor x = variable({1, 2});
  const std::weak_ptr<Storage> saved = [&] {
    const Tensor big = ones({2}, DType::f64);
    const Tensor z = x * big;
    z.backward(ones({2}, DType::f64));
    return std::weak_ptr<Storage>(big.impl().storage);
  }();
  EXPECT_TRUE(saved.expired());
}

TEST(Lifetime, ATensorKeepsOnlyItsOwnPast) {
  const int64_t before = Node::live_count();
  const Tensor x = variable({1, 2});
  const Tensor kept = x * 2.0;
  { const Tensor dropped = exp(kept) + kept; }
  EXPECT_EQ(Node::live_count() - before, 2);  // x and kept
}

// --- Threads ------------------------------------------------------------------------------------

// Graphs of different threads share nothing but the counters, and here one constant.
TEST(Threads, BuildGraphsAtOnce) {
  const Tensor shared = constant({1, 0.5, 0.25, 0.125}, {2, 2});
  const int64_t before = Node::live_count();
  std::vector<std::vector<double>> gradients(4);
  const auto work = [&](size_t id) {
    for (int i = 0; i < 300; ++i) {
      const Tensor x = variable({0.5, 1, 1.5, 2}, {2, 2});
      busy_graph(x * shared).backward();
      gradients[id] = x.grad().to_vector<double>();
    }
  };
  std::vector<std::thread> threads;
  for (size_t id = 0; id < gradients.size(); ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  for (const auto& gradient : gradients) EXPECT_EQ(gradient, gradients[0]);
  EXPECT_EQ(Node::live_count(), before);
}

// One variable may be read by several threads; grad() writes to none.
TEST(Threads, ShareAVariable) {
  const Tensor x = variable({0.5, 1, 1.5, 2}, {2, 2});
  const std::vector<double> expected = grad(busy_graph(x), {x})[0].to_vector<double>();
  std::vector<std::vector<double>> gradients(4);
  std::vector<std::thread> threads;
  for (auto& gradient : gradients) {
    threads.emplace_back([&x, &gradient] {
      for (int i = 0; i < 100; ++i) gradient = grad(busy_graph(x), {x})[0].to_vector<double>();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& gradient : gradients) EXPECT_EQ(gradient, expected);
  EXPECT_FALSE(x.grad().defined());
}

}  // namespace
}  // namespace lookback
