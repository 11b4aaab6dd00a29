// What views refuse: dimensions and positions out of range, sizes that do not fit; and the gradient
// rules for views that are changed in place.
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(ViewErrors, DimensionsOutOfRange) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(throws<std::out_of_range>([&] { transpose(x, 0, 2); },
                                        {"[transpose]", "dimension 2", "2 dimensions"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { permute(x, {0, 2}); }, {"[permute]", "2"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { unsqueeze(x, 4); }, {"[unsqueeze]", "4"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { unsqueeze(x, -4); }, {"[unsqueeze]", "-4"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { squeeze(x, 2); }, {"[squeeze]", "2"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { narrow(x, -3, 0, 1); }, {"[narrow]", "-3"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { select(x, 2, 0); }, {"[select]", "dimension 2"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { select(ones({}), 0, 0); }, {"[select]", "0"}));
}

TEST(ViewErrors, Permute) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { permute(x, 0); }, {"[permute]", "[0]", "[2, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        permute(x, {1, -1});
      },
      {"[permute]", "[1, -1]"}));
}

TEST(ViewErrors, Reshape) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        reshape(x, {4, 2});
      },
      {"[reshape]", "[4, 2]", "[2, 3]", "6 elements"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { reshape(x, {4, -1}); }, {"[reshape]", "[2, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        reshape(x, {-1, -1});
      },
      {"[reshape]", "[-1, -1]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        reshape(x, {-2, -3});
      },
      {"[reshape]", "[-2, -3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        reshape(ones({0}), {0, -1});
      },
      {"[reshape]", "ambiguous", "[0, -1]"}));
}

TEST(ViewErrors, Expand) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        expand(ones({2, 3}), {4, 3});
      },
      {"[expand]", "[2, 3]", "[4, 3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        expand(ones({2, 3}), {3});
      },
      {"[expand]", "[2, 3]", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        expand(ones({3}), {-1, 3});
      },
      {"[expand]", "-1", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { expand(ones({1}), {-2}); }, {"[expand]", "-2"}));
}

TEST(ViewErrors, NarrowAndSelectPositions) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(throws<std::out_of_range>(
      [&] { narrow(x, 1, 2, 2); },
      {"[narrow] start 2 and length 2 do not fit dimension 1 of shape [2, 3]"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { narrow(x, 1, -1, 1); }, {"[narrow]", "start -1"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { narrow(x, 1, 1, -1); }, {"[narrow]", "length -1"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { select(x, 1, 3); },
                                        {"[select]", "index 3", "dimension 1", "[2, 3]"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { select(x, 0, -3); }, {"[select]", "index -3"}));
}

TEST(ViewErrors, HugeNumbersDoNotWrapAround) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(throws<std::out_of_range>([&] { narrow(x, 1, kHuge, 1); }, {"[narrow]"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { narrow(x, 1, 1, kHuge); }, {"[narrow]"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { select(x, 1, kHuge); }, {"[select]"}));
  EXPECT_TRUE(throws<std::out_of_range>([&] { select(x, 1, -kHuge); }, {"[select]"}));
  // 2^33 * 2^31 = 2^64, which wraps around to 0 elements.
  const int64_t large = int64_t{1} << 33;
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        zeros({large, large / 4});
      },
      {"too many elements", "[8589934592, 2147483648]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        reshape(ones({0}), {large, large / 4});
      },
      {"too many elements"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        expand(ones({1, 1}), {large, large});
      },
      {"too many elements"}));
}

TEST(ViewErrors, MoreDimensionsThanSupported) {
  Shape shape = Shape::filled(kMaxRank, 1);
  const Tensor x = ones(shape);
  EXPECT_EQ(transpose(x, 0, -1).dim(), kMaxRank);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { unsqueeze(x, 0); }, {"8 dimensions"}));
}

// --- Views and in-place changes -----------------------------------------------------------------

TEST(ViewChanges, AChangeThroughAnyViewIsNoticedInBackward) {
  const Tensor x = numbers({2, 3}).set_requires_grad(true);
  const Tensor factor = numbers({3, 2});
  const Tensor y = sum(x * transpose(factor, 0, 1));
  select(factor, 0, 1).fill_(0);
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { y.backward(); }, {"mul", "changed in place", "[2, 3]"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST(ViewChanges, AChangeOfWhatNoGradientNeedsIsAllowed) {
  const Tensor x = numbers({2, 3}).set_requires_grad(true);
  const Tensor shift = numbers({2, 3});
  const Tensor y = sum(x + shift);
  shift.fill_(0);
  y.backward();
  EXPECT_TRUE(has_values(x.grad(), {2, 3}, {1, 1, 1, 1, 1, 1}));
}

TEST(ViewChanges, ViewsOfVariablesRefuseToBeChanged) {
  const Tensor x = numbers({2, 3}).set_requires_grad(true);
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { select(x, 0, 1).fill_(0); }, {"[fill_]", "NoGradGuard"}));
  const NoGradGuard guard;
  select(x, 0, 1).fill_(0);
  EXPECT_TRUE(all_zero(select(x, 0, 1)));
}

TEST(ViewChanges, GradientsFlowIntoEveryViewOfOneTensor) {
  const Tensor x = numbers({4}).set_requires_grad(true);
  const Tensor y =
      sum(narrow(x, 0, 0, 3)) + sum(narrow(x, 0, 1, 3)) * 10.0 + select(x, 0, 3) * 100.0;
  y.backward();
  EXPECT_TRUE(has_values(x.grad(), {4}, {1, 11, 11, 110}));
}

}  // namespace
}  // namespace lookback::test
