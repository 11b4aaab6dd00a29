// fill_ and copy_: the only two ways in which elements change.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::has_values;
using test::throws;

TEST(Fill, ReachesEveryElementOfEveryDtype) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    EXPECT_TRUE(has_values(zeros({2, 2}, dtype).fill_(1), {2, 2}, {1, 1, 1, 1})) << dtype;
  }
  EXPECT_EQ(zeros({0}).fill_(3).numel(), 0);
}

TEST(Fill, OfAViewChangesJustThat) {
  const Tensor x = zeros({3, 3});
  select(x, 1, 1).fill_(2);             // a column
  narrow(x, 0, 2, 1).fill_(3);          // the last row
  transpose(narrow(x, 0, 0, 1), 0, 1);  // a view that nobody fills
  EXPECT_TRUE(has_values(x, {3, 3}, {0, 2, 0, 0, 2, 0, 3, 3, 3}));
}

TEST(Fill, ReturnsTheTensorItself) {
  const Tensor x = zeros({2});
  EXPECT_TRUE(x.fill_(1).is_same(x));
  EXPECT_TRUE(x.copy_(x).is_same(x));
}

TEST(Fill, RefusesNumbersThatDoNotFit) {
  const Tensor x = ones({2}, DType::i64);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { x.fill_(0.5); }, {"0.5", "i64"}));
  EXPECT_TRUE(has_values(x, {2}, {1, 1}));
  EXPECT_EQ(x.version(), 0U);
}

TEST(Copy, BroadcastsTheSource) {
  const Tensor x = zeros({2, 3});
  x.copy_(from_vector<float>({1, 2, 3}, {3}));
  EXPECT_TRUE(has_values(x, {2, 3}, {1, 2, 3, 1, 2, 3}));
  x.copy_(from_vector<float>({4, 5}, {2, 1}));
  EXPECT_TRUE(has_values(x, {2, 3}, {4, 4, 4, 5, 5, 5}));
}

TEST(Copy, RefusesASourceThatDoesNotFit) {
  const Tensor x = zeros({2, 3});
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { x.copy_(ones({2})); }, {"[copy_]", "[2]", "[2, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { x.copy_(ones({4, 2, 3})); }, {"[copy_]"}));
  EXPECT_TRUE(has_values(x, {2, 3}, {0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(x.version(), 0U);
}

TEST(Copy, ConvertsBetweenAllDtypes) {
  const std::vector<DType> all = {DType::f32, DType::f64, DType::i64, DType::boolean};
  for (const DType from : all) {
    for (const DType into : all) {
      const Tensor source = to(from_vector<int>({0, 1}, {2}), from);
      const Tensor target = empty({2}, into);
      target.copy_(source);
      EXPECT_TRUE(has_values(target, {2}, {0, 1})) << from << " to " << into;
    }
  }
}

TEST(Copy, ToIntegersDropsDecimals) {
  const Tensor target = empty({3}, DType::i64);
  target.copy_(test::constant({1.9, -1.9, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(has_values(target, {3}, {1, -1, 0}));
}

TEST(Copy, ToBooleansAsksForNonzero) {
  const Tensor target = empty({4}, DType::boolean);
  target.copy_(test::constant({0, 0.25, -3, 256}));
  EXPECT_TRUE(has_values(target, {4}, {0, 1, 1, 1}));
}

// Shifted by one within one storage: an elementwise loop would copy the first value all along.
TEST(Copy, ReadsAllBeforeItWrites) {
  const Tensor x = test::constant({1, 2, 3, 4});
  narrow(x, 0, 1, 3).copy_(narrow(x, 0, 0, 3));
  EXPECT_TRUE(has_values(x, {4}, {1, 1, 2, 3}));

  const Tensor square = test::constant({1, 2, 3, 4}, {2, 2});
  square.copy_(transpose(square, 0, 1));
  EXPECT_TRUE(has_values(square, {2, 2}, {1, 3, 2, 4}));
}

TEST(Copy, IntoATransposedView) {
  const Tensor x = zeros({3, 2});
  transpose(x, 0, 1).copy_(from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  EXPECT_TRUE(has_values(x, {3, 2}, {1, 4, 2, 5, 3, 6}));
}

// Which of three rows should a row that is seen three times become? Filling leaves no doubt.
TEST(InPlace, RepeatedElementsMayBeFilledNotCopiedInto) {
  const Tensor base = test::constant({1, 2});
  const Tensor x = expand(base, {3, 2});
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        x.copy_(zeros({3, 2}));
      },
      {"[copy_]", "[3, 2]", "dimension 0", "clone()"}));
  EXPECT_TRUE(has_values(x, {3, 2}, {1, 2, 1, 2, 1, 2}));
  x.fill_(5);
  EXPECT_TRUE(has_values(base, {2}, {5, 5}));
}

TEST(InPlace, IsCountedByEveryViewOfTheStorage) {
  const Tensor x = zeros({2, 2});
  const Tensor row = select(x, 0, 0);
  EXPECT_EQ(x.version(), 0U);
  row.fill_(1);
  x.copy_(ones({2, 2}));
  EXPECT_EQ(x.version(), 2U);
  EXPECT_EQ(row.version(), 2U);
  EXPECT_EQ(x.detach().version(), 2U);
  EXPECT_EQ(x.clone().version(), 0U);
}

// --- In-place changes and the graph -------------------------------------------------------------

TEST(InPlace, IsRefusedOnVariablesAndResults) {
  const Tensor x = test::variable({1, 2});
  const Tensor y = x * 2.0;
  EXPECT_TRUE(throws<std::invalid_argument>([&] { x.fill_(0); }, {"[fill_]", "NoGradGuard"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.fill_(0); }, {"[fill_]", "recorded"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.copy_(ones({2})); }, {"[copy_]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { select(x, 0, 0).fill_(0); }, {"[fill_]"}));
  EXPECT_TRUE(has_values(x, {2}, {1, 2}));
  EXPECT_TRUE(has_values(y, {2}, {2, 4}));
}

TEST(InPlace, IsAllowedUnderNoGradGuard) {
  const Tensor x = test::variable({1, 2});
  {
    const NoGradGuard no_grad;
    x.copy_(x - 1.0);
  }
  EXPECT_TRUE(has_values(x, {2}, {0, 1}));
  EXPECT_TRUE(x.requires_grad());
}

// A copy would silently cut the source's gradient off.
TEST(Copy, RefusesASourceThatRequiresAGradient) {
  const Tensor x = test::variable({1, 2});
  const Tensor target = zeros({2}, DType::f64);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { target.copy_(x); }, {"[copy_]", "detach()"}));
  target.copy_(x.detach());
  EXPECT_TRUE(has_values(target, {2}, {1, 2}));
}

}  // namespace
}  // namespace lookback
