// Comparisons and logic: boolean results, IEEE rules for NaN, broadcasting and errors.
#include <limits>

#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

using Comparison = Tensor (*)(const Tensor&, const Tensor&);

struct NamedComparison {
  std::string name;
  Comparison op;
  std::vector<double> expected;  // of 1 with 0, 1, 2
  double with_nan;
};

const std::vector<NamedComparison>& comparisons() {
  static const std::vector<NamedComparison> all = {
      {"eq", eq, {0, 1, 0}, 0}, {"ne", ne, {1, 0, 1}, 1}, {"lt", lt, {0, 0, 1}, 0},
      {"le", le, {0, 1, 1}, 0}, {"gt", gt, {1, 0, 0}, 0}, {"ge", ge, {1, 1, 0}, 0}};
  return all;
}

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

class Compare : public testing::TestWithParam<NamedComparison> {};

TEST_P(Compare, OrdersNumbersOfEveryDtype) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64}) {
    const Tensor y = GetParam().op(full({}, 1, dtype), to(arange(3), dtype));
    EXPECT_TRUE(has_values(y, {3}, GetParam().expected)) << dtype;
    EXPECT_EQ(y.dtype(), DType::boolean);
  }
}

TEST_P(Compare, OrdersBooleans) {
  const Tensor y =
      GetParam().op(from_vector<bool>({true, true}, {2}), from_vector<bool>({false, true}, {2}));
  EXPECT_TRUE(has_values(y, {2}, {GetParam().expected[0], GetParam().expected[1]}));
}

TEST_P(Compare, NaNIsUnorderedAndUnequal) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor y = GetParam().op(f64({nan, 1, nan}), f64({nan, nan, 1}));
  EXPECT_TRUE(has_values(y, {3}, std::vector<double>(3, GetParam().with_nan)));
}

TEST_P(Compare, InfinitiesAreOrdered) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor y = GetParam().op(f64({infinity, infinity, -infinity}), f64({0, infinity, 0}));
  EXPECT_TRUE(has_values(y, {3}, GetParam().expected));
}

TEST_P(Compare, BroadcastsBothWays) {
  const Tensor column = from_vector<double>({0, 1, 2}, {3, 1});
  const Tensor y = GetParam().op(column, f64({0, 1, 2}));
  EXPECT_EQ(y.shape(), (Shape{3, 3}));
  EXPECT_TRUE(has_values(select(y, 0, 1), {3}, GetParam().expected));
}

TEST_P(Compare, ReadsViews) {
  const Tensor x = numbers({3, 4});
  const Tensor y = numbers({3, 4}, -2, 2, 2);
  EXPECT_TRUE(same_bits(GetParam().op(transpose(x, 0, 1), transpose(y, 0, 1)),
                        transpose(GetParam().op(x, y), 0, 1)));
  EXPECT_TRUE(same_bits(GetParam().op(stepped(x).view, y), GetParam().op(x, y)));
}

TEST_P(Compare, OfNothingIsNothing) {
  EXPECT_EQ(GetParam().op(ones({0, 3}), ones({3})).shape(), (Shape{0, 3}));
}

TEST_P(Compare, RecordsNothing) {
  const Tensor x = f64({1, 2}).set_requires_grad(true);
  EXPECT_FALSE(GetParam().op(x, x).requires_grad());
}

TEST_P(Compare, RefusesOtherShapesAndDtypes) {
  const std::string op = "[" + GetParam().name + "]";
  EXPECT_TRUE(throws<std::invalid_argument>([] { GetParam().op(ones({2}), ones({3})); },
                                            {op, "[2]", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { GetParam().op(ones({2}), arange(2)); },
                                            {op, "f32", "i64"}));
}

INSTANTIATE_TEST_SUITE_P(Ops, Compare, testing::ValuesIn(comparisons()),
                         [](const auto& test) { return test.param.name; });

TEST(Comparisons, OperatorsAreTheSameOps) {
  const Tensor a = f64({1, 2, 3});
  const Tensor b = f64({3, 2, 1});
  EXPECT_TRUE(same_bits(a == b, eq(a, b)));
  EXPECT_TRUE(same_bits(a != b, ne(a, b)));
  EXPECT_TRUE(same_bits(a < b, lt(a, b)));
  EXPECT_TRUE(same_bits(a <= b, le(a, b)));
  EXPECT_TRUE(same_bits(a > b, gt(a, b)));
  EXPECT_TRUE(same_bits(a >= b, ge(a, b)));
}

TEST(Comparisons, OperatorsTakeNumbers) {
  const Tensor x = f64({1, 2, 3});
  EXPECT_TRUE(has_values(x == 2.0, {3}, {0, 1, 0}));
  EXPECT_TRUE(has_values(x != 2.0, {3}, {1, 0, 1}));
  EXPECT_TRUE(has_values(x < 2.0, {3}, {1, 0, 0}));
  EXPECT_TRUE(has_values(x <= 2.0, {3}, {1, 1, 0}));
  EXPECT_TRUE(has_values(x > 2.0, {3}, {0, 0, 1}));
  EXPECT_TRUE(has_values(x >= 2.0, {3}, {0, 1, 1}));
}

TEST(Comparisons, IntegersRefuseFractions) {
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { static_cast<void>(arange(3) > 0.5); }, {"0.5", "i64"}));
}

TEST(Comparisons, Logic) {
  const Tensor a = from_vector<bool>({false, false, true, true}, {4});
  const Tensor b = from_vector<bool>({false, true, false, true}, {4});
  EXPECT_TRUE(has_values(logical_and(a, b), {4}, {0, 0, 0, 1}));
  EXPECT_TRUE(has_values(logical_or(a, b), {4}, {0, 1, 1, 1}));
  EXPECT_TRUE(has_values(logical_not(a), {4}, {1, 1, 0, 0}));
  EXPECT_TRUE(has_values(!a, {4}, {1, 1, 0, 0}));
}

TEST(Comparisons, LogicBroadcastsAndReadsViews) {
  const Tensor a = from_vector<bool>({true, false}, {2, 1});
  const Tensor b = from_vector<bool>({true, false, true}, {3});
  EXPECT_TRUE(has_values(logical_and(a, b), {2, 3}, {1, 0, 1, 0, 0, 0}));
  EXPECT_TRUE(has_values(!transpose(logical_or(a, b), 0, 1), {3, 2}, {0, 0, 0, 1, 0, 0}));
}

TEST(Comparisons, LogicRefusesNumbers) {
  const Tensor a = ones({2}, DType::boolean);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { logical_and(a, ones({2})); },
                                            {"[logical_and]", "boolean", "f32"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { logical_or(arange(2), a); },
                                            {"[logical_or]", "i64", "boolean"}));
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { logical_not(ones({2})); }, {"[logical_not]", "f32"}));
}

}  // namespace
}  // namespace lookback::test
