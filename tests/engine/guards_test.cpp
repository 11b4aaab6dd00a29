// The guards: states of this thread that end with a scope, however it ends.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/backward.h"
#include "engine/node.h"
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

// --- NoGradGuard --------------------------------------------------------------------------------

TEST(NoGradGuard, StopsRecordingWhileItLives) {
  const Tensor x = scalar(2);
  EXPECT_TRUE(grad_enabled());
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE((x * x).requires_grad());
    EXPECT_TRUE(x.requires_grad());
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE((x * x).requires_grad());
}

TEST(NoGradGuard, Nests) {
  const NoGradGuard outer;
  { const NoGradGuard inner; }
  EXPECT_FALSE(grad_enabled());  // the previous state, not "on"
}

TEST(NoGradGuard, RestoresOnExceptions) {
  try {
    const NoGradGuard no_grad;
    matmul(ones({2, 3}), ones({2, 3}));
  } catch (const std::invalid_argument&) {
  }
  EXPECT_TRUE(grad_enabled());
}

TEST(NoGradGuard, ConcernsThisThreadOnly) {
  const NoGradGuard no_grad;
  bool enabled_there = false;
  std::thread([&] {
    enabled_there = grad_enabled();
    const NoGradGuard there;
  }).join();
  EXPECT_TRUE(enabled_there);
  EXPECT_FALSE(grad_enabled());
}

TEST(NoGradGuard, DoesNotKeepASweepFromRunning) {
  const Tensor x = scalar(3);
  const Tensor y = x * x;
  const NoGradGuard no_grad;
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 6);
  EXPECT_FALSE(grad_enabled());
}

TEST(RecordingGuard, RecordsInsideANoGradGuard) {
  const Tensor x = scalar(3);
  const NoGradGuard no_grad;
  {
    const RecordingGuard recording;
    EXPECT_TRUE((x * x).requires_grad());
  }
  EXPECT_FALSE(grad_enabled());
}

// --- The sweep's own state ----------------------------------------------------------------------

// An op whose derivative always fails.
Tensor broken(const Tensor& x) {
  return record("broken", x.detach().clone(), {x}, [](const Tensor&) -> Gradients {
    throw std::invalid_argument("[broken] no derivative today");
  });
}

TEST(Sweep, RecordsOnlyWithCreateGraph) {
  const Tensor x = scalar(3);
  std::vector<bool> recorded;
  const auto watched = [&](const Tensor& t) {
    return record("watched", t.detach().clone(), {t}, [&](const Tensor& dy) {
      recorded.push_back(grad_enabled());
      return Gradients{dy};
    });
  };
  watched(x).backward();
  grad(watched(x), {x}, {}, {.create_graph = true});
  EXPECT_EQ(recorded, (std::vector<bool>{false, true}));
  EXPECT_TRUE(grad_enabled());
}

TEST(Sweep, RestoresTheStateWhenAClosureThrows) {
  const Tensor x = scalar(3);
  EXPECT_THROW(broken(x).backward(), std::invalid_argument);
  EXPECT_TRUE(grad_enabled());
  const NoGradGuard no_grad;
  const Tensor y = [&] {
    const RecordingGuard recording;
    return broken(x);
  }();
  EXPECT_THROW(y.backward({}, false, true), std::invalid_argument);
  EXPECT_FALSE(grad_enabled());
}

// The newest leaf gets its gradient before the failure is met; still nothing is written.
TEST(Sweep, AFailureLeavesEveryGradientAsItWas) {
  const Tensor x = scalar(3);
  const Tensor b = broken(x * 2.0);
  const Tensor late = scalar(5);
  (late * 7.0).backward();
  EXPECT_TRUE(throws<std::invalid_argument>([&] { (b * late).backward(); },
                                            {"[backward]", "broken", "no derivative today"}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(late.grad().item<double>(), 7);
}

TEST(Sweep, NamesAnOpThatReturnsTheWrongNumberOfGradients) {
  const Tensor x = scalar(3);
  const Tensor y =
      record("careless", x.detach().clone(), {x}, [](const Tensor&) -> Gradients { return {}; });
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); },
                                            {"careless", "0 gradients for 1 inputs"}));
}

TEST(Sweep, NamesAnOpThatReturnsTheWrongShape) {
  const Tensor x = variable({1, 2});
  const Tensor y =
      record("careless", sum(x.detach()), {x}, [](const Tensor& dy) -> Gradients { return {dy}; });
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); }, {"careless", "[]", "[2]"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Sweep, AnUndefinedGradientFlowsNowhere) {
  const Tensor x = scalar(3);
  const Tensor y = record("stop", x.detach().clone(), {x},
                          [](const Tensor&) -> Gradients { return {Tensor()}; });
  y.backward();
  EXPECT_FALSE(x.grad().defined());
}

// --- AnomalyGuard -------------------------------------------------------------------------------

TEST(AnomalyGuard, NamesTheOpThatFirstProducedNaN) {
  const Tensor x = variable({0, 4});
  const Tensor y = sum(sqrt(x * 1.0) * constant({0, 1}));  // 0 / (2 sqrt 0)
  const AnomalyGuard anomaly;
  EXPECT_TRUE(throws<std::runtime_error>([&] { y.backward(); },
                                         {"[anomaly]", "sqrt", "input 0", "[2]", "nan"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(AnomalyGuard, NamesTheOpThatFirstProducedInfinity) {
  const Tensor x = variable({0, 4});
  const Tensor y = sum(log(x * 2.0));
  const AnomalyGuard anomaly;
  EXPECT_TRUE(throws<std::runtime_error>([&] { y.backward(); }, {"[anomaly]", "log", "inf"}));
}

TEST(AnomalyGuard, SaysSoWhenItIsTheSeed) {
  const Tensor x = scalar(1);
  const AnomalyGuard anomaly;
  const Tensor seed = full({}, std::numeric_limits<double>::infinity(), DType::f64);
  EXPECT_TRUE(throws<std::runtime_error>([&] { (x * 2.0).backward(seed); }, {"seed", "inf"}));
}

// Neither consumer is to blame, nor is the op before: two finite gradients overflow when they meet.
TEST(AnomalyGuard, SaysSoWhenItIsASumOfGradients) {
  const Tensor x = variable({1});
  const Tensor y = exp(x);
  const Tensor z = sum(y * 1e308 + y * 1e308);
  const AnomalyGuard anomaly;
  EXPECT_TRUE(throws<std::runtime_error>([&] { z.backward(); },
                                         {"[anomaly]", "sum of the gradients", "exp", "inf"}));
}

// Division gives both sides a gradient; that of a constant goes nowhere and harms nobody.
TEST(AnomalyGuard, DoesNotMindGradientsOfConstants) {
  const Tensor x = scalar(3);
  const Tensor y =
      record("two_sided", x.detach().clone(), {constant({1}, {}), x}, [](const Tensor& dy) {
        return Gradients{dy / zeros({}, DType::f64), dy};
      });
  const AnomalyGuard anomaly;
  y.backward();
  EXPECT_EQ(x.grad().item<double>(), 1);
}

TEST(AnomalyGuard, ChangesNothingWhenAllIsWell) {
  const Tensor x = variable({1, 2});
  const AnomalyGuard anomaly;
  sum(exp(x) * x).backward();
  EXPECT_TRUE(has_values(x.grad(), {2}, {2 * std::exp(1.0), 3 * std::exp(2.0)}, 1e-14));
}

TEST(AnomalyGuard, EndsWithItsScope) {
  const Tensor x = variable({0, 4});
  {
    const AnomalyGuard outer;
    { const AnomalyGuard inner; }
    EXPECT_THROW(sum(log(x)).backward(), std::runtime_error);
  }
  EXPECT_NO_THROW(sum(log(x)).backward());
}

}  // namespace
}  // namespace lookback
