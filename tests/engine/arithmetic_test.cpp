// add, sub, mul, div, neg, pow, maximum, minimum: values by hand, edges, dtypes and errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct NamedBinary {
  std::string name;
  Binary op;
  double lo;  // of both operands
};

const std::vector<NamedBinary>& binaries() {
  static const std::vector<NamedBinary> ops = {
      {"add", add, -2},         {"sub", sub, -2},         {"mul", mul, -2}, {"div", div, 0.5},
      {"maximum", maximum, -2}, {"minimum", minimum, -2}, {"pow", pow, 0.5}};
  return ops;
}

std::vector<OpCase> cases() {
  const std::vector<std::pair<Shape, Shape>> pairs = {
      {{2, 3}, {2, 3}}, {{}, {}},         {{1}, {1}},   {{0, 3}, {3}},      {{2, 3}, {3}},
      {{3}, {2, 3}},    {{2, 1}, {1, 3}}, {{2, 3}, {}}, {{2, 1, 3}, {4, 1}}};
  std::vector<OpCase> cases;
  for (const NamedBinary& binary : binaries()) {
    for (const auto& [a, b] : pairs) {
      cases.push_back({binary.name + "_" + shape_name(a) + "_" + shape_name(b),
                       [op = binary.op](const auto& x) { return op(x[0], x[1]); },
                       inputs_of({a, b}, binary.lo, 2)});
    }
  }
  const auto one_input = [&](const char* name, Tensor (*op)(const Tensor&), const Shape& shape) {
    cases.push_back({std::string(name) + "_" + shape_name(shape),
                     [op](const auto& x) { return op(x[0]); }, inputs_of({shape}, 0.5, 2)});
  };
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0}}) {
    one_input("neg", neg, shape);
    one_input(
        "add_number", [](const Tensor& x) { return 2.0 + x + 1.0; }, shape);
    one_input(
        "sub_number", [](const Tensor& x) { return 2.0 - (x - 1.0); }, shape);
    one_input(
        "mul_number", [](const Tensor& x) { return 2.0 * x * 1.5; }, shape);
    one_input(
        "div_number", [](const Tensor& x) { return 2.0 / x / 1.5; }, shape);
    one_input(
        "pow_2", [](const Tensor& x) { return pow(x, 2); }, shape);
    one_input(
        "pow_half", [](const Tensor& x) { return pow(x, 0.5); }, shape);
    one_input(
        "pow_minus_1", [](const Tensor& x) { return pow(x, -1); }, shape);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Arithmetic, OpTest, testing::ValuesIn(cases()), case_name);

// --- Values by hand -----------------------------------------------------------------------------

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

Tensor i64(const std::vector<int64_t>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

TEST(Arithmetic, Values) {
  const Tensor a = f64({1, -2, 3});
  const Tensor b = f64({4, 5, -0.5});
  EXPECT_TRUE(has_values(a + b, {3}, {5, 3, 2.5}));
  EXPECT_TRUE(has_values(a - b, {3}, {-3, -7, 3.5}));
  EXPECT_TRUE(has_values(a * b, {3}, {4, -10, -1.5}));
  EXPECT_TRUE(has_values(a / b, {3}, {0.25, -0.4, -6}, 1e-15));
  EXPECT_TRUE(has_values(-a, {3}, {-1, 2, -3}));
  EXPECT_TRUE(has_values(maximum(a, b), {3}, {4, 5, 3}));
  EXPECT_TRUE(has_values(minimum(a, b), {3}, {1, -2, -0.5}));
  EXPECT_TRUE(has_values(pow(f64({2, 3, 4}), f64({3, 2, 0.5})), {3}, {8, 9, 2}, 1e-15));
}

TEST(Arithmetic, NumbersOnEitherSide) {
  const Tensor x = f64({1, 4});
  EXPECT_TRUE(has_values(x + 1.0, {2}, {2, 5}));
  EXPECT_TRUE(has_values(1.0 + x, {2}, {2, 5}));
  EXPECT_TRUE(has_values(x - 1.0, {2}, {0, 3}));
  EXPECT_TRUE(has_values(1.0 - x, {2}, {0, -3}));
  EXPECT_TRUE(has_values(x * 2.0, {2}, {2, 8}));
  EXPECT_TRUE(has_values(2.0 * x, {2}, {2, 8}));
  EXPECT_TRUE(has_values(x / 2.0, {2}, {0.5, 2}));
  EXPECT_TRUE(has_values(2.0 / x, {2}, {2, 0.5}));
  EXPECT_TRUE(has_values(pow(x, 0.5), {2}, {1, 2}, 1e-15));
}

TEST(Arithmetic, BroadcastsFromTheRight) {
  const Tensor column = from_vector<double>({10, 20}, {2, 1});
  EXPECT_TRUE(has_values(column + f64({1, 2, 3}), {2, 3}, {11, 12, 13, 21, 22, 23}));
  EXPECT_TRUE(has_values(f64({1, 2, 3}) - column, {2, 3}, {-9, -8, -7, -19, -18, -17}));
}

TEST(Arithmetic, NumbersTakeTheDtypeOfTheTensor) {
  EXPECT_EQ((ones({2}, DType::f32) + 0.1).dtype(), DType::f32);
  EXPECT_EQ((ones({2}, DType::f64) * 0.1).dtype(), DType::f64);
  EXPECT_EQ((arange(2) + 3.0).dtype(), DType::i64);
  EXPECT_EQ((zeros({1}, DType::f32) + 0.1).item<double>(), static_cast<double>(0.1F));
}

TEST(Arithmetic, Integers) {
  const Tensor a = i64({1, -2, 9007199254740993});  // 2^53 + 1: no double holds it
  const Tensor b = i64({4, 5, 2});
  EXPECT_EQ((a + b).to_vector<int64_t>(), (std::vector<int64_t>{5, 3, 9007199254740995}));
  EXPECT_EQ((a - b).to_vector<int64_t>(), (std::vector<int64_t>{-3, -7, 9007199254740991}));
  EXPECT_EQ((a * b).to_vector<int64_t>(), (std::vector<int64_t>{4, -10, 18014398509481986}));
  EXPECT_EQ((-a).to_vector<int64_t>(), (std::vector<int64_t>{-1, 2, -9007199254740993}));
  EXPECT_EQ(maximum(a, b).to_vector<int64_t>(), (std::vector<int64_t>{4, 5, 9007199254740993}));
  EXPECT_EQ(minimum(a, b).to_vector<int64_t>(), (std::vector<int64_t>{1, -2, 2}));
}

TEST(Arithmetic, InfinitiesAndNaN) {
  const Tensor x = f64({kInfinity});
  EXPECT_TRUE(all_nan(x - x));
  EXPECT_TRUE(all_nan(x * 0.0));
  EXPECT_TRUE(has_values(f64({1, -1}) / f64({0, 0}), {2}, {kInfinity, -kInfinity}));
  EXPECT_TRUE(all_nan(f64({0}) / f64({0})));
  EXPECT_TRUE(has_values(f64({1e308}) + f64({1e308}), {1}, {kInfinity}));
}

TEST(Arithmetic, MaximumAndMinimumLetNaNWin) {
  EXPECT_TRUE(all_nan(maximum(f64({kNaN, 1}), f64({1, kNaN}))));
  EXPECT_TRUE(all_nan(minimum(f64({kNaN, 1}), f64({1, kNaN}))));
  EXPECT_TRUE(has_values(maximum(f64({-kInfinity}), f64({kInfinity})), {1}, {kInfinity}));
}

TEST(Arithmetic, MaximumSharesTheGradientOfATie) {
  for (const Binary op : {maximum, minimum}) {
    const Tensor a = f64({1, 2, 3}).set_requires_grad(true);
    const Tensor b = f64({1, 0, 5}).set_requires_grad(true);
    const auto gradients = grad(op(a, b), {a, b}, f64({8, 8, 8}));
    const bool larger = op == static_cast<Binary>(maximum);
    EXPECT_TRUE(has_values(gradients[0], {3}, {4, larger ? 8.0 : 0.0, larger ? 0.0 : 8.0}));
    EXPECT_TRUE(has_values(gradients[0] + gradients[1], {3}, {8, 8, 8}));
  }
}

TEST(Arithmetic, MaximumSelectsSoThatInfiniteGradientsStayOnTheirSide) {
  const Tensor a = f64({1}).set_requires_grad(true);
  const Tensor b = f64({2}).set_requires_grad(true);
  const auto gradients = grad(maximum(a, b), {a, b}, f64({kInfinity}));
  EXPECT_TRUE(has_values(gradients[0], {1}, {0}));
  EXPECT_TRUE(has_values(gradients[1], {1}, {kInfinity}));
}

TEST(Arithmetic, PowAtZero) {
  const Tensor x = f64({0}).set_requires_grad(true);
  EXPECT_TRUE(has_values(pow(x, 0), {1}, {1}));
  EXPECT_TRUE(has_values(grad(pow(x, 0), {x})[0], {1}, {0}));
  EXPECT_TRUE(has_values(grad(pow(x, 1), {x})[0], {1}, {1}));
  EXPECT_TRUE(has_values(grad(pow(x, 2), {x})[0], {1}, {0}));
  EXPECT_TRUE(has_values(grad(pow(x, 0.5), {x})[0], {1}, {kInfinity}));
  const Tensor p = f64({0}).set_requires_grad(true);
  const auto gradients = grad(pow(x, p), {x, p});
  EXPECT_TRUE(has_values(gradients[0], {1}, {0}));
  EXPECT_TRUE(has_values(gradients[1], {1}, {0}));
}

TEST(Arithmetic, PowOfNegativeBases) {
  EXPECT_TRUE(has_values(pow(f64({-2, -2}), 3), {2}, {-8, -8}, 1e-15));
  EXPECT_TRUE(all_nan(pow(f64({-2}), 0.5)));
  const Tensor x = f64({-2}).set_requires_grad(true);
  EXPECT_TRUE(has_values(grad(pow(x, 3), {x})[0], {1}, {12}, 1e-15));
}

TEST(Arithmetic, GradientsOfBroadcastOperandsAreSummed) {
  const Tensor a = ones({2, 1}, DType::f64).set_requires_grad(true);
  const Tensor b = ones({3}, DType::f64).set_requires_grad(true);
  const Tensor seed = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto gradients = grad(a + b, {a, b}, seed);
  EXPECT_TRUE(has_values(gradients[0], {2, 1}, {6, 15}));
  EXPECT_TRUE(has_values(gradients[1], {3}, {5, 7, 9}));
}

TEST(Arithmetic, ATensorMayMeetItself) {
  const Tensor x = f64({3}).set_requires_grad(true);
  EXPECT_TRUE(has_values(grad(x * x, {x})[0], {1}, {6}));
  EXPECT_TRUE(has_values(grad(x - x, {x})[0], {1}, {0}));
  EXPECT_TRUE(has_values(grad(x / x, {x})[0], {1}, {0}, 1e-15));
  EXPECT_TRUE(has_values(grad(maximum(x, x), {x})[0], {1}, {1}));
}

// --- Errors -------------------------------------------------------------------------------------

class ArithmeticErrors : public testing::TestWithParam<NamedBinary> {};

TEST_P(ArithmeticErrors, NameTheOpAndBothShapes) {
  const auto [name, op, lo] = GetParam();
  EXPECT_TRUE(throws<std::invalid_argument>(
      [op = op] {
        op(ones({2, 3}), ones({4}));
      },
      {"[" + name + "] shapes do not broadcast; got [2, 3] and [4]"}));
}

TEST_P(ArithmeticErrors, NameBothDtypes) {
  const auto [name, op, lo] = GetParam();
  EXPECT_TRUE(throws<std::invalid_argument>([op = op] { op(ones({2}), ones({2}, DType::f64)); },
                                            {"[" + name + "] dtypes must match; got f32 and f64"}));
}

TEST_P(ArithmeticErrors, RefuseBooleans) {
  const auto [name, op, lo] = GetParam();
  const Tensor x = ones({2}, DType::boolean);
  EXPECT_TRUE(
      throws<std::invalid_argument>([op = op, x] { op(x, x); }, {"[" + name + "]", "got boolean"}));
}

INSTANTIATE_TEST_SUITE_P(Ops, ArithmeticErrors, testing::ValuesIn(binaries()),
                         [](const auto& test) { return test.param.name; });

TEST(Arithmetic, RefusesUndefinedTensors) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { add(Tensor(), ones({2})); }, {"undefined"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { add(ones({2}), Tensor()); }, {"undefined"}));
}

TEST(Arithmetic, RefusesToDivideIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { div(arange(2), arange(2)); }, {"[div]", "i64"}));
}

TEST(Arithmetic, RefusesNumbersThatAnIntegerCannotHold) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(2) + 0.5; }, {"[add]", "0.5", "i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(2) * 1e19; }, {"[mul]", "1e+19"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { arange(2) + kNaN; }, {"[add]", "nan"}));
}

TEST(Arithmetic, RefusesPowersOfIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { pow(arange(2), 2.0); }, {"[pow]", "i64"}));
}

}  // namespace
}  // namespace lookback::test
