// to(): conversions between the four dtypes, and the gradients of those between floats.
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct DTypePair {
  DType from, to;
};

class Convert : public testing::TestWithParam<DTypePair> {};

TEST_P(Convert, KeepsZeroAndOneAndTheShape) {
  const Tensor x = to(from_vector<double>({0, 1, 1, 0}, {2, 2}), GetParam().from);
  const Tensor y = to(x, GetParam().to);
  EXPECT_EQ(y.dtype(), GetParam().to);
  EXPECT_TRUE(has_values(y, {2, 2}, {0, 1, 1, 0}));
  EXPECT_TRUE(has_values(to(transpose(narrow(x, 0, 1, 1), 0, 1), GetParam().to), {2, 1}, {1, 0}));
  EXPECT_EQ(to(ones({0, 3}, GetParam().from), GetParam().to).shape(), (Shape{0, 3}));
}

TEST_P(Convert, CopiesUnlessTheDtypeIsTheSame) {
  const Tensor x = ones({2}, GetParam().from);
  EXPECT_EQ(to(x, GetParam().to).is_same(x), GetParam().from == GetParam().to);
}

std::vector<DTypePair> all_pairs() {
  const std::vector<DType> dtypes = {DType::f32, DType::f64, DType::i64, DType::boolean};
  std::vector<DTypePair> pairs;
  for (const DType from : dtypes) {
    for (const DType into : dtypes) pairs.push_back({from, into});
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(All, Convert, testing::ValuesIn(all_pairs()), [](const auto& test) {
  return std::string(name(test.param.from)) + "_to_" + name(test.param.to);
});

std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0, 2}}) {
    cases.push_back({"to_f64_of_a_product_" + shape_name(shape),
                     [](const auto& x) { return to(x[0] * x[0], DType::f64); },
                     inputs_of({shape})});
    cases.push_back({"to_the_same_" + shape_name(shape),
                     [](const auto& x) { return to(x[0], x[0].dtype()) * 1.0; },
                     inputs_of({shape})});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Convert, OpTest, testing::ValuesIn(cases()), case_name);

TEST(Conversions, FloatsRoundToNearest) {
  const Tensor x = from_vector<double>({0.1, 1e300, -1e-300}, {3});
  EXPECT_TRUE(has_values(to(x, DType::f32), {3}, {static_cast<double>(0.1F), kInfinity, 0}));
}

TEST(Conversions, IntegersTruncateTowardsZero) {
  const Tensor x = from_vector<double>({1.9, -1.9, 0.5}, {3});
  EXPECT_EQ(to(x, DType::i64).to_vector<int64_t>(), (std::vector<int64_t>{1, -1, 0}));
}

TEST(Conversions, BooleansAreWhatIsNotZero) {
  const Tensor x = from_vector<double>({0, -0.0, 0.25, -3, kInfinity}, {5});
  EXPECT_TRUE(has_values(to(x, DType::boolean), {5}, {0, 0, 1, 1, 1}));
  EXPECT_TRUE(has_values(to(arange(3), DType::boolean), {3}, {0, 1, 1}));
}

TEST(Conversions, LargeIntegersSurviveAsIntegers) {
  const Tensor x = from_vector<int64_t>({9007199254740993}, {1});  // 2^53 + 1
  EXPECT_EQ(to(x, DType::i64).item<int64_t>(), 9007199254740993);
  EXPECT_EQ(to(x, DType::f64).item<double>(), 9007199254740992.0);
}

TEST(Conversions, GradientsComeBackInTheDtypeOfTheInput) {
  const Tensor x = ones({2}, DType::f32).set_requires_grad(true);
  const Tensor y = to(x, DType::f64);
  EXPECT_TRUE(y.requires_grad());
  const Tensor dx = grad(y, {x}, from_vector<double>({0.1, 2}, {2}))[0];
  EXPECT_EQ(dx.dtype(), DType::f32);
  EXPECT_TRUE(has_values(dx, {2}, {static_cast<double>(0.1F), 2}));
}

TEST(Conversions, IntegersAndBooleansHaveNoGradient) {
  const Tensor x = ones({2}).set_requires_grad(true);
  EXPECT_FALSE(to(x, DType::i64).requires_grad());
  EXPECT_FALSE(to(x, DType::boolean).requires_grad());
  EXPECT_FALSE(to(to(x, DType::i64), DType::f32).requires_grad());
}

TEST(Conversions, UndefinedTensorsAreRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { to(Tensor(), DType::f32); }, {"undefined"}));
}

}  // namespace
}  // namespace lookback::test
