// Leaves: which tensors are variables, which may be switched, and what cuts a graph.
#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::scalar;
using test::throws;

double grad_of(const Tensor& x) { return x.grad().item<double>(); }

TEST(Leaves, VariablesAndConstantsAreLeavesResultsAreNot) {
  const Tensor x = scalar(3);
  EXPECT_TRUE(x.is_leaf());
  EXPECT_TRUE(x.detach().is_leaf());
  EXPECT_FALSE((x * 2.0).is_leaf());
  EXPECT_TRUE((x.detach() * 2.0).is_leaf());
}

TEST(Leaves, OnlyTheyMayBeSwitched) {
  const Tensor x = scalar(3);
  const Tensor y = x * 2.0;
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.set_requires_grad(false); },
                                            {"[set_requires_grad]", "detach()"}));
  EXPECT_TRUE(y.requires_grad());
  x.set_requires_grad(false);
  EXPECT_FALSE(x.requires_grad());
  EXPECT_FALSE((x * 2.0).requires_grad());
}

TEST(Leaves, OnlyFloatsHaveGradients) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(3).set_requires_grad(true); },
                                            {"[set_requires_grad]", "i64"}));
  EXPECT_FALSE(arange(3).set_requires_grad(false).requires_grad());
}

TEST(Leaves, SwitchingOnTwiceKeepsTheGradient) {
  const Tensor x = scalar(3);
  (x * x).backward();
  x.set_requires_grad(true);
  EXPECT_EQ(grad_of(x), 6);
}

TEST(Detach, CutsTheGraph) {
  const Tensor x = scalar(3);
  (x * x.detach()).backward();  // the second factor counts as a number
  EXPECT_EQ(grad_of(x), 3);
}

TEST(Clone, DoesNotCutIt) {
  const Tensor x = scalar(3);
  (x * x.clone()).backward();
  EXPECT_EQ(grad_of(x), 6);
}

}  // namespace
}  // namespace lookback
