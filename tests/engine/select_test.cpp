// where and masked_fill: values, and that gradients are selected, never multiplied by 0.
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

Tensor booleans(const std::vector<bool>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

std::vector<OpCase> cases() {
  struct Three {
    Shape condition, a, b;
  };
  std::vector<OpCase> cases;
  for (const auto& [condition, a, b] :
       {Three{{2, 3}, {2, 3}, {2, 3}}, Three{{}, {}, {}}, Three{{0}, {1}, {}},
        Three{{2, 1}, {3}, {}}, Three{{3}, {2, 1}, {2, 3}}, Three{{2, 3}, {}, {1, 3}},
        Three{{4, 1, 1}, {2, 1}, {3}}}) {
    cases.push_back({"where_" + shape_name(condition) + "_" + shape_name(a) + "_" + shape_name(b),
                     [](const auto& x) { return where(x[0], x[1], x[2]); },
                     {mask(condition), numbers(a, -2, 2, 1), numbers(b, -2, 2, 2)}});
  }
  for (const auto& [x, mask_shape] : {std::pair<Shape, Shape>{{2, 3}, {2, 3}},
                                      {{}, {}},
                                      {{0, 3}, {3}},
                                      {{2, 3}, {3}},
                                      {{2, 3}, {2, 1}},
                                      {{2, 2, 3}, {}},
                                      {{3}, {2, 3}},
                                      {{2, 1}, {2, 0}},
                                      {{}, {2, 2}},
                                      {{2, 3, 3}, {3, 3}}}) {
    cases.push_back({"masked_fill_" + shape_name(x) + "_" + shape_name(mask_shape),
                     [](const auto& t) { return masked_fill(t[0], t[1], -7); },
                     {numbers(x), mask(mask_shape)}});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Select, OpTest, testing::ValuesIn(cases()), case_name);

// --- Values -------------------------------------------------------------------------------------

TEST(Select, WhereTakesEachElementFromOneSide) {
  const Tensor y = where(booleans({true, false, true}), f64({1, 2, 3}), f64({10, 20, 30}));
  EXPECT_TRUE(has_values(y, {3}, {1, 20, 3}));
}

TEST(Select, WhereBroadcastsAllThree) {
  const Tensor condition = from_vector<bool>({true, false}, {2, 1});
  EXPECT_TRUE(has_values(where(condition, f64({1, 2, 3}), full({}, 9, DType::f64)), {2, 3},
                         {1, 2, 3, 9, 9, 9}));
}

TEST(Select, MaskedFillReplacesWhereTheMaskIsTrue) {
  EXPECT_TRUE(has_values(masked_fill(f64({1, 2, 3}), booleans({false, true, false}), -kInfinity),
                         {3}, {1, -kInfinity, 3}));
}

TEST(Select, MaskedFillNeverReadsWhatItReplaces) {
  EXPECT_TRUE(has_values(masked_fill(f64({kNaN, kInfinity, 3}), booleans({true, true, false}), 0),
                         {3}, {0, 0, 3}));
}

class SelectDTypes : public testing::TestWithParam<DType> {};

TEST_P(SelectDTypes, WhereAndMaskedFillKeepTheDtype) {
  const Tensor a = to(f64({1, 0, 1, 1}), GetParam());
  const Tensor b = to(f64({0, 1, 0, 0}), GetParam());
  const Tensor condition = booleans({true, false, false, true});
  EXPECT_TRUE(has_values(where(condition, a, b), {4}, {1, 1, 0, 1}));
  EXPECT_EQ(where(condition, a, b).dtype(), GetParam());
  EXPECT_TRUE(has_values(masked_fill(a, condition, 0), {4}, {0, 0, 1, 0}));
  EXPECT_EQ(masked_fill(a, condition, 0).dtype(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, SelectDTypes,
                         testing::Values(DType::f32, DType::f64, DType::i64, DType::boolean),
                         [](const auto& test) { return std::string(name(test.param)); });

// --- 0 * infinity must not appear ---------------------------------------------------------------

TEST(Select, WhereSelectsGradients) {
  const Tensor a = f64({1, 2}).set_requires_grad(true);
  const Tensor b = f64({3, 4}).set_requires_grad(true);
  const auto gradients = grad(where(booleans({true, false}), a, b), {a, b}, f64({kInfinity, kNaN}));
  EXPECT_TRUE(has_values(select(gradients[0], 0, 0), {}, {kInfinity}));
  EXPECT_TRUE(has_values(select(gradients[0], 0, 1), {}, {0}));
  EXPECT_TRUE(has_values(select(gradients[1], 0, 0), {}, {0}));
  EXPECT_TRUE(all_nan(select(gradients[1], 0, 1)));
}

TEST(Select, MaskedFillSelectsGradients) {
  const Tensor x = f64({1, 2, 3}).set_requires_grad(true);
  const Tensor y = masked_fill(x, booleans({true, true, false}), 0);
  EXPECT_TRUE(has_values(grad(y, {x}, f64({kInfinity, kNaN, 5}))[0], {3}, {0, 0, 5}));
}

TEST(Select, WhereGuardsAFunctionAtItsSingularity) {
  // The inner where keeps log away from 0, the outer one picks the value.
  const Tensor x = f64({0, 2}).set_requires_grad(true);
  const Tensor positive = x > 0.0;
  const Tensor one = ones({}, DType::f64);
  const Tensor y = where(positive, log(where(positive, x, one)), zeros({}, DType::f64));
  EXPECT_TRUE(has_values(grad(y, {x}, f64({1, 1}))[0], {2}, {0, 0.5}));
}

TEST(Select, SecondDerivativeIsSelectedToo) {
  const Tensor x = f64({0, 2}).set_requires_grad(true);
  const Tensor y = masked_fill(x * x * x, booleans({true, false}), kInfinity);
  const Tensor dx = grad(y, {x}, f64({1, 1}), {.create_graph = true})[0];
  EXPECT_TRUE(has_values(dx, {2}, {0, 12}));
  EXPECT_TRUE(has_values(grad(dx, {x}, f64({1, 1}))[0], {2}, {0, 12}));
}

TEST(Select, ConditionHasNoGradient) {
  const Tensor a = f64({1, 2}).set_requires_grad(true);
  const Tensor condition = a > 1.5;
  EXPECT_FALSE(condition.requires_grad());
  EXPECT_TRUE(where(condition, a, a).requires_grad());
}

TEST(Select, AChangedConditionIsRefusedInBackward) {
  const Tensor a = f64({1, 2}).set_requires_grad(true);
  const Tensor condition = booleans({true, false});
  const Tensor y = sum(masked_fill(a, condition, 0));
  condition.fill_(1);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); },
                                            {"masked_fill", "changed in place", "[2]"}));
}

// --- Errors -------------------------------------------------------------------------------------

TEST(Select, RefusesConditionsThatAreNotBoolean) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { where(arange(2), ones({2}), ones({2})); },
                                            {"[where]", "boolean", "i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { masked_fill(ones({2}), ones({2}), 0); },
                                            {"[masked_fill]", "boolean", "f32"}));
}

TEST(Select, RefusesOtherDtypesAndShapes) {
  const Tensor condition = booleans({true, false});
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] { where(condition, ones({2}), ones({2}, DType::f64)); }, {"[where]", "f32", "f64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { where(condition, ones({3}), ones({3})); },
                                            {"[where]", "[2]", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { where(condition, ones({2}), ones({3})); },
                                            {"[where]", "[2]", "[3]"}));
}

TEST(Select, MaskedFillBroadcastsXToo) {
  const Tensor x = f64({1, 2}).set_requires_grad(true);
  const Tensor mask = from_vector<bool>({true, false, false}, {3, 1});
  const Tensor y = masked_fill(x, mask, -7);
  EXPECT_TRUE(has_values(y, {3, 2}, {-7, -7, 1, 2, 1, 2}));
  EXPECT_TRUE(has_values(grad(sum(y), {x})[0], {2}, {2, 2}));
}

TEST(Select, MaskedFillRefusesShapesThatDoNotBroadcast) {
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { masked_fill(ones({3}), ones({2}, DType::boolean), 0); },
                                    {"[masked_fill]", "[2]", "[3]"}));
}

TEST(Select, MaskedFillRefusesANumberThatAnIntegerCannotHold) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        masked_fill(arange(2), booleans({true, false}), -kInfinity);
      },
      {"[masked_fill]", "-inf", "i64"}));
}

}  // namespace
}  // namespace lookback::test
