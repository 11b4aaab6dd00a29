// AdamW: its steps are PyTorch's (tests/data/modules.txt), it can go on from a saved state to the
// bit, and it refuses what it cannot train.
#include "nn/optimizer.h"

#include <cmath>

#include "engine/ops.h"
#include "tests/support/golden.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

class AdamWTest : public testing::TestWithParam<DType> {
 protected:
  // The loss whose gradient is p^3 + 1 + step / 4.
  static Tensor loss(const Tensor& p, int64_t step) {
    return sum(pow(p, 4.0)) / 4.0 + sum(p) * (1.0 + static_cast<double>(step) / 4.0);
  }
  static void train(nn::AdamW& optimizer, const Tensor& p, int64_t first, int64_t end) {
    for (int64_t step = first; step < end; ++step) {
      optimizer.zero_grad();
      loss(p, step).backward();
      optimizer.step();
    }
  }
  void expect_golden(const std::string& name, const nn::AdamWOptions& options) const {
    const Golden golden("tests/data/modules.txt");
    const Tensor p = golden.get(name + ".start", GetParam()).set_requires_grad(true);
    nn::AdamW optimizer({p}, options);
    const double tolerance = GetParam() == DType::f64 ? 1e-12 : 1e-5;
    for (int64_t step = 0; step < 6; ++step) {
      train(optimizer, p, step, step + 1);
      const Tensor expected = golden.get(name + ".step" + std::to_string(step + 1), GetParam());
      EXPECT_TRUE(all_close(p, expected, tolerance)) << "step " << step + 1;
    }
  }
  Tensor start() const { return normal_variable({5, 7}, GetParam()); }
};

TEST_P(AdamWTest, EqualsPyTorchWithTheDefaults) { expect_golden("adamw", {}); }

TEST_P(AdamWTest, EqualsPyTorchWithOptions) {
  expect_golden("adamw_options",
                {.lr = 0.1, .beta1 = 0.5, .beta2 = 0.75, .eps = 1e-3, .weight_decay = 0.25});
}

TEST_P(AdamWTest, TheFirstStepIsTheLearningRateAgainstTheSignOfTheGradient) {
  const Tensor p = to(from_vector<double>({1, -2}, {2}), GetParam()).set_requires_grad(true);
  nn::AdamW optimizer({p}, {.lr = 0.125, .weight_decay = 0});
  (sum(p * p)).backward();
  optimizer.step();
  EXPECT_TRUE(has_values(p, {2}, {0.875, -1.875}, 1e-6));
}

TEST_P(AdamWTest, WeightDecayIsDecoupledFromTheGradient) {
  const Tensor p = full({3}, 8, GetParam()).set_requires_grad(true);
  nn::AdamW optimizer({p}, {.lr = 0.5, .weight_decay = 0.25});
  (sum(p) * 0.0).backward();  // no gradient: only the decay acts, whatever the moments are
  optimizer.step();
  EXPECT_TRUE(has_values(p, {3}, {7, 7, 7}, 1e-6));
}

TEST_P(AdamWTest, AParameterWithoutAGradientStays) {
  const Tensor used = start();
  const Tensor unused = start();
  const Tensor before = unused.detach().clone();
  nn::AdamW optimizer({used, unused});
  train(optimizer, used, 0, 2);
  EXPECT_TRUE(same_bits(unused, before));
}

TEST_P(AdamWTest, AParameterWhoseGradientsComeLateStartsAtItsOwnFirstStep) {
  const Tensor early = start();
  const Tensor late = start();
  nn::AdamW optimizer({early, late});
  train(optimizer, early, 0, 3);
  optimizer.zero_grad();
  train(optimizer, late, 0, 2);

  const Tensor alone = start();
  nn::AdamW fresh({alone});
  train(fresh, alone, 0, 2);
  EXPECT_TRUE(same_bits(late, alone));
  EXPECT_EQ(optimizer.steps(), (std::vector<int64_t>{3, 2}));
}

TEST_P(AdamWTest, GoesOnFromASavedStateToTheBit) {
  const Tensor p = start();
  nn::AdamW whole({p});
  train(whole, p, 0, 10);

  const Tensor first_half = start();
  nn::AdamW before({first_half});
  train(before, first_half, 0, 5);

  const Tensor resumed = first_half.detach().clone().set_requires_grad(true);
  nn::AdamW after({resumed});
  after.set_steps(before.steps());
  after.first_moments()[0].copy_(before.first_moments()[0]);
  after.second_moments()[0].copy_(before.second_moments()[0]);
  train(after, resumed, 5, 10);
  EXPECT_TRUE(same_bits(resumed, p));
}

TEST_P(AdamWTest, ThreadsChangeNoBit) {
  const auto run = [&](int threads) {
    const ThreadCount count(threads);
    const Tensor p = normal_variable({300, 301}, GetParam());
    nn::AdamW optimizer({p});
    train(optimizer, p, 0, 2);
    return p;
  };
  const Tensor expected = run(1);
  for (const int threads : {2, 3, 8}) EXPECT_TRUE(same_bits(run(threads), expected)) << threads;
}

TEST_P(AdamWTest, TheLearningRateMayFollowASchedule) {
  const Tensor p = start();
  const Tensor before = p.detach().clone();
  nn::AdamW optimizer({p});
  optimizer.options().lr = 0;
  train(optimizer, p, 0, 3);
  EXPECT_TRUE(same_bits(p, before));
  optimizer.options().lr = 0.1;
  train(optimizer, p, 3, 4);
  EXPECT_FALSE(same_bits(p, before));
}

// A step changes a saved tensor in place: a graph that still needs it must say so.
TEST_P(AdamWTest, AGraphFromBeforeTheStepIsRefusedAfterIt) {
  const Tensor p = start();
  nn::AdamW optimizer({p});
  const Tensor y = loss(p, 0);
  const Tensor late = loss(p, 0);
  y.backward();
  optimizer.step();
  EXPECT_TRUE(throws<std::invalid_argument>([&] { late.backward(); }, {"in place"}));
}

INSTANTIATE_TEST_SUITE_P(Precisions, AdamWTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

TEST(AdamW, WhatItCannotTrainIsRefused) {
  const auto refuses = [](const std::function<void()>& call, const std::string& why) {
    EXPECT_TRUE(throws<std::invalid_argument>(call, {"[adamw]", why}));
  };
  const Tensor p = normal_variable({2, 3});
  refuses([&] { nn::AdamW({ones({2, 3})}); }, "contiguous variables");
  refuses([&] { nn::AdamW({p * 2.0}); }, "contiguous variables");
  refuses([&] { nn::AdamW({p, ones({1}).set_requires_grad(true), p}); }, "once more");
  refuses([&] { nn::AdamW({p}, {.lr = -1}); }, "lr -1");
  refuses([&] { nn::AdamW({p}, {.lr = std::nan("")}); }, "lr nan");
  refuses([&] { nn::AdamW({p}, {.beta1 = 1}); }, "betas 1");
  refuses([&] { nn::AdamW({p}, {.beta2 = -0.5}); }, "-0.5");
  refuses([&] { nn::AdamW({p}, {.eps = -1}); }, "eps -1");
  refuses([&] { nn::AdamW({p}).set_steps({-1}); }, "steps");
  refuses([&] { nn::AdamW({p}).set_steps({1, 1}); }, "steps");
}

}  // namespace
}  // namespace lookback::test
