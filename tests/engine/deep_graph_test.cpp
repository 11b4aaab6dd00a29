// Chains of a million ops on a stack of 256 KiB: nothing in the engine recurses over the graph,
// neither the sweep nor the destructors. A recursive destructor would need about 100 MB here.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::scalar;

constexpr int kOps = 1'000'000;

// Runs f on a thread that has a stack of 256 KiB.
void on_small_stack(std::function<void()> f) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  pthread_t thread;
  const auto run = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &f), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

Tensor chain(const Tensor& x, const std::function<Tensor(const Tensor&)>& op, int ops = kOps) {
  Tensor y = x;
  for (int i = 0; i < ops; ++i) y = op(y);
  return y;
}

// In all tests: no node is left, however the chain ended.
class DeepGraph : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(Node::live_count(), before_); }

 private:
  int64_t before_ = Node::live_count();
};

TEST_F(DeepGraph, SweptAndDropped) {
  on_small_stack([] {
    const Tensor x = scalar(0);
    chain(x, [](const Tensor& y) { return y + 1.0; }).backward();
    EXPECT_EQ(x.grad().item<double>(), 1);
  });
}

TEST_F(DeepGraph, DroppedWithoutASweep) {
  on_small_stack([] {
    const Tensor y = chain(scalar(0), [](const Tensor& t) { return t + 1.0; });
    EXPECT_EQ(y.item<double>(), kOps);
  });
}

// mul saves its inputs: each closure owns the tensor before it, and that its node. The chain hangs
// together twice.
TEST_F(DeepGraph, ThroughSavedInputsSweptAndDropped) {
  on_small_stack([] {
    const Tensor x = scalar(2);
    const Tensor one = scalar(1);
    chain(x, [&](const Tensor& y) { return y * one; }).backward();
    EXPECT_EQ(x.grad().item<double>(), 1);
    EXPECT_EQ(one.grad().item<double>(), 2.0 * kOps);
  });
}

TEST_F(DeepGraph, ThroughSavedInputsDropped) {
  on_small_stack([] {
    const Tensor one = scalar(1);
    chain(scalar(2), [&](const Tensor& y) { return y * one; });
  });
}

// tanh saves its own output.
TEST_F(DeepGraph, ThroughSavedOutputsRetainedAndDropped) {
  on_small_stack([] {
    const Tensor x = scalar(0);
    const Tensor y = chain(
        x, [](const Tensor& t) { return tanh(t); }, kOps / 4);
    EXPECT_EQ(grad(y, {x}, {}, {.retain_graph = true})[0].item<double>(), 1);
  });
}

// The gradient of a long chain is a long chain, which hangs on the first one.
TEST_F(DeepGraph, ThroughARecordedSweep) {
  on_small_stack([] {
    const Tensor x = scalar(1);
    Tensor y = x;
    for (int i = 0; i < kOps / 10; ++i) y = y * x;  // x^n
    const Tensor dx = grad(y, {x}, {}, {.create_graph = true})[0];
    EXPECT_EQ(dx.item<double>(), kOps / 10 + 1);
    const double n = kOps / 10 + 1;
    EXPECT_EQ(grad(dx, {x})[0].item<double>(), n * (n - 1));
  });
}

// One result of very many inputs: wide instead of deep.
TEST_F(DeepGraph, AsWideAsDeep) {
  on_small_stack([] {
    const Tensor x = scalar(1);
    std::vector<Tensor> parts;
    for (int i = 0; i < kOps / 10; ++i) parts.push_back(reshape(x * 2.0, {1}));
    sum(cat(parts)).backward();
    EXPECT_EQ(x.grad().item<double>(), 2.0 * kOps / 10);
  });
}

}  // namespace
}  // namespace lookback
