// exp, log, sqrt, tanh, sigmoid, relu, gelu, abs: values by hand, edges, dtypes and errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

using Unary = Tensor (*)(const Tensor&);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct NamedUnary {
  std::string name;
  Unary op;
  double lo;  // of the domain that is checked
  double hi;
};

const std::vector<NamedUnary>& unaries() {
  static const std::vector<NamedUnary> ops = {{"exp", exp, -2, 2},         {"log", log, 0.5, 3},
                                              {"sqrt", sqrt, 0.5, 3},      {"tanh", tanh, -2, 2},
                                              {"sigmoid", sigmoid, -3, 3}, {"relu", relu, -2, 2},
                                              {"gelu", gelu, -3, 3},       {"abs", abs, -2, 2}};
  return ops;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const NamedUnary& unary : unaries()) {
    for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{1}, Shape{3, 7}, Shape{2, 1, 3}}) {
      cases.push_back({unary.name + "_" + shape_name(shape),
                       [op = unary.op](const auto& x) { return op(x[0]); },
                       inputs_of({shape}, unary.lo, unary.hi)});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Unary, OpTest, testing::ValuesIn(cases()), case_name);

Tensor f64(const std::vector<double>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

double derivative(Unary op, double at) {
  const Tensor x = f64({at}).set_requires_grad(true);
  return grad(op(x), {x})[0].item<double>();
}

// --- Values by hand -----------------------------------------------------------------------------

TEST(Unary, Values) {
  EXPECT_TRUE(has_values(exp(f64({0, 1, -1})), {3}, {1, std::exp(1.0), std::exp(-1.0)}, 1e-15));
  EXPECT_TRUE(has_values(log(f64({1, std::exp(2.0)})), {2}, {0, 2}, 1e-15));
  EXPECT_TRUE(has_values(sqrt(f64({0, 4, 2.25})), {3}, {0, 2, 1.5}));
  EXPECT_TRUE(has_values(tanh(f64({0, 0.5})), {2}, {0, 0.46211715726000975850}, 1e-15));
  EXPECT_TRUE(has_values(sigmoid(f64({0, std::log(3.0)})), {2}, {0.5, 0.75}, 1e-15));
  EXPECT_TRUE(has_values(relu(f64({-1, 0, 2})), {3}, {0, 0, 2}));
  EXPECT_TRUE(has_values(abs(f64({-1.5, 0, 2})), {3}, {1.5, 0, 2}));
  // x Phi(x), with Phi(1) = 0.84134474606854294859
  EXPECT_TRUE(has_values(gelu(f64({0, 1, -1})), {3},
                         {0, 0.84134474606854294859, -0.15865525393145705141}, 1e-15));
}

TEST(Unary, Derivatives) {
  EXPECT_NEAR(derivative(exp, 1), std::exp(1.0), 1e-14);
  EXPECT_NEAR(derivative(log, 4), 0.25, 1e-15);
  EXPECT_NEAR(derivative(sqrt, 4), 0.25, 1e-15);
  EXPECT_NEAR(derivative(tanh, 0), 1, 1e-15);
  EXPECT_NEAR(derivative(sigmoid, 0), 0.25, 1e-15);
  EXPECT_EQ(derivative(relu, 3), 1);
  EXPECT_EQ(derivative(abs, -3), -1);
  EXPECT_NEAR(derivative(gelu, 0), 0.5, 1e-15);
  // Phi(1) + phi(1)
  EXPECT_NEAR(derivative(gelu, 1), 0.84134474606854294859 + 0.24197072451914334980, 1e-14);
}

TEST(Unary, KinksHaveDerivativeZero) {
  EXPECT_EQ(derivative(relu, 0), 0);
  EXPECT_EQ(derivative(abs, 0), 0);
}

// --- Edges --------------------------------------------------------------------------------------

class UnaryFloats : public testing::TestWithParam<DType> {
 public:
  // op(x) for one number, in the dtype under test.
  double at(Unary op, double x) const { return op(full({}, x, GetParam())).item<double>(); }
};

TEST_P(UnaryFloats, ExpOfMinusInfinityIsExactlyZero) {
  EXPECT_EQ(at(exp, -kInfinity), 0);
  EXPECT_EQ(at(exp, kInfinity), kInfinity);
  EXPECT_EQ(at(exp, 0), 1);
  EXPECT_EQ(at(exp, 1e5), kInfinity);
  EXPECT_EQ(at(exp, -1e5), 0);
}

TEST_P(UnaryFloats, LogAtItsEdges) {
  EXPECT_EQ(at(log, 0), -kInfinity);
  EXPECT_EQ(at(log, 1), 0);
  EXPECT_EQ(at(log, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(at(log, -1)));
}

TEST_P(UnaryFloats, SqrtAtItsEdges) {
  EXPECT_EQ(at(sqrt, 0), 0);
  EXPECT_EQ(at(sqrt, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(at(sqrt, -1)));
}

TEST_P(UnaryFloats, SaturatingFunctionsReachTheirLimits) {
  for (const double large : {1e3, 1e30, kInfinity}) {
    EXPECT_EQ(at(tanh, large), 1);
    EXPECT_EQ(at(tanh, -large), -1);
    EXPECT_EQ(at(sigmoid, large), 1);
    EXPECT_EQ(at(sigmoid, -large), 0);
    EXPECT_EQ(at(relu, -large), 0);
    EXPECT_EQ(at(gelu, large),
              large == kInfinity ? kInfinity : full({}, large, GetParam()).item<double>());
    EXPECT_EQ(at(abs, -large), full({}, large, GetParam()).item<double>());
  }
}

TEST_P(UnaryFloats, GeluOfLargeNegativeNumbersIsZero) {
  EXPECT_EQ(at(gelu, -1e3), 0);
  EXPECT_EQ(at(gelu, -1e30), 0);
}

TEST_P(UnaryFloats, NaNStaysNaN) {
  for (const NamedUnary& unary : unaries()) {
    EXPECT_TRUE(std::isnan(at(unary.op, kNaN))) << unary.name;
  }
}

TEST_P(UnaryFloats, NaNStaysNaNInTheMiddleOfARow) {
  Tensor x = full({37}, 1.0, GetParam());
  select(x, 0, 20).fill_(kNaN);
  for (const NamedUnary& unary : unaries()) {
    const Tensor y = unary.op(x);
    EXPECT_TRUE(all_nan(select(y, 0, 20))) << unary.name;
    EXPECT_TRUE(same_bits(select(y, 0, 19), select(y, 0, 36))) << unary.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Floats, UnaryFloats, testing::Values(DType::f32, DType::f64),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(Unary, ReluSelectsItsGradient) {
  const Tensor x = f64({-1, 0, 1}).set_requires_grad(true);
  const Tensor dx = grad(relu(x), {x}, f64({kInfinity, kNaN, 5}))[0];
  EXPECT_TRUE(has_values(dx, {3}, {0, 0, 5}));
}

TEST(Unary, AbsSelectsItsGradient) {
  const Tensor x = f64({-1, 0, 1}).set_requires_grad(true);
  const Tensor dx = grad(abs(x), {x}, f64({kInfinity, kInfinity, 5}))[0];
  EXPECT_TRUE(has_values(dx, {3}, {-kInfinity, 0, 5}));
}

TEST(Unary, SaturatedDerivativesAreZeroNotNaN) {
  for (const double large : {50.0, 1e3, 1e200}) {
    EXPECT_EQ(derivative(tanh, large), 0);
    EXPECT_EQ(derivative(sigmoid, -1e3), 0);
    EXPECT_EQ(derivative(gelu, -large), 0) << large;
    EXPECT_EQ(derivative(gelu, large), 1) << large;
  }
}

TEST(Unary, ElementsDoNotDependOnTheirPosition) {
  const Tensor x = numbers({67}, 0.1, 2);
  for (const NamedUnary& unary : unaries()) {
    const Tensor whole = unary.op(x);
    for (const int64_t start : {0, 1, 13, 64, 66}) {
      const Tensor part = unary.op(narrow(x, 0, start, 67 - start));
      EXPECT_TRUE(same_bits(part, narrow(whole, 0, start, 67 - start))) << unary.name;
    }
  }
}

// --- Errors -------------------------------------------------------------------------------------

class UnaryErrors : public testing::TestWithParam<NamedUnary> {};

TEST_P(UnaryErrors, RefuseIntegersAndBooleans) {
  const auto [name, op, lo, hi] = GetParam();
  EXPECT_TRUE(throws<std::invalid_argument>([op = op] { op(arange(3)); },
                                            {"[" + name + "] needs f32 or f64; got i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([op = op] { op(ones({2}, DType::boolean)); },
                                            {"[" + name + "] needs f32 or f64; got boolean"}));
}

TEST_P(UnaryErrors, RefuseUndefinedTensors) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { GetParam().op(Tensor()); }, {"undefined"}));
}

INSTANTIATE_TEST_SUITE_P(Ops, UnaryErrors, testing::ValuesIn(unaries()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace lookback::test
