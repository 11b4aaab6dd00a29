// GELU kernels: bounds in ulp against erfc in long double, also where Phi is a tiny tail, and the
// gradient against the closed form and a difference quotient. On every SIMD target.
#include "engine/kernels/gelu.h"

#include <numbers>

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

// Beyond this Phi(x) leaves the normal numbers, and the product x Phi(x) multiplies its rounding.
template <class T>
constexpr T kNormalTail = sizeof(T) == 4 ? T{12.5} : T{37};

long double normal_distribution(long double x) {
  return std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2;
}

long double normal_density(long double x) {
  return std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<long double> /
         std::numbers::sqrt2_v<long double>;
}

template <class T>
std::vector<T> inputs() {
  std::vector<T> x = {T{0}, T{1}, T{-1}};
  for (const T bound : {T{0.125}, T{3}, kNormalTail<T>}) {
    const std::vector<T> more = random_values<T>(3000, -bound, bound, 5);
    x.insert(x.end(), more.begin(), more.end());
  }
  return x;
}

template <class T>
class GeluKernels : public ::testing::Test {};
TYPED_TEST_SUITE(GeluKernels, Floats);

TYPED_TEST(GeluKernels, AccurateInBothTails) {
  const int bound = sizeof(TypeParam) == 4 ? 8 : 15;  // see gelu.h
  const std::vector<TypeParam> x = inputs<TypeParam>();
  on_each_target([&] {
    std::vector<TypeParam> y(x.size());
    gelu_run(static_cast<int64_t>(x.size()), x.data(), y.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const long double value = x[i];
      ASSERT_LE(ulp_error(y[i], value * normal_distribution(value)), bound) << "at " << x[i];
    }
  });
}

TYPED_TEST(GeluKernels, GradientIsTheClosedForm) {
  using T = TypeParam;
  const std::vector<T> x = inputs<T>();
  const std::vector<T> dy(x.size(), T{2});
  on_each_target([&] {
    std::vector<T> dx(x.size());
    gelu_backward_run(static_cast<int64_t>(x.size()), x.data(), dy.data(), dx.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const long double value = x[i];
      const long double first = normal_distribution(value);
      const long double second = value * normal_density(value);
      // Where the two terms cancel, their size is what the error is measured by.
      const double scale = static_cast<double>(2 * (std::fabs(first) + std::fabs(second)));
      const double error = static_cast<double>(dx[i] - 2 * (first + second));
      ASSERT_LE(std::fabs(error), 6 * scale * std::numeric_limits<T>::epsilon()) << "at " << x[i];
    }
  });
}

TYPED_TEST(GeluKernels, GradientAgreesWithADifferenceQuotient) {
  const double h = 1e-5;
  for (double x = -4; x < 4; x += 0.37) {
    const double points[] = {x - h, x + h};
    double values[2];
    gelu_run(2, points, values);
    const TypeParam at = static_cast<TypeParam>(x);
    const TypeParam one = 1;
    TypeParam slope;
    gelu_backward_run(1, &at, &one, &slope);
    EXPECT_NEAR(slope, (values[1] - values[0]) / (2 * h), sizeof(TypeParam) == 4 ? 1e-6 : 1e-9);
  }
}

TYPED_TEST(GeluKernels, AgreesWithItsTwin) {
  using T = TypeParam;
  const double tolerance = 4 * std::numeric_limits<T>::epsilon();
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      std::vector<T> x = random_values<T>(n, -6, 6);
      const std::vector<T> dy = random_values<T>(n, -2, 2, 2);
      std::vector<T> y(x.size());
      std::vector<T> want(x.size());
      gelu_run_reference(n, x.data(), want.data());
      gelu_run(n, x.data(), y.data());
      ASSERT_TRUE(all_near(y, want, tolerance)) << "n = " << n;
      gelu_backward_run_reference(n, x.data(), dy.data(), want.data());
      gelu_backward_run(n, x.data(), dy.data(), y.data());
      ASSERT_TRUE(all_near(y, want, 2 * tolerance)) << "n = " << n;
    }
  });
}

TYPED_TEST(GeluKernels, SpecialValues) {
  using T = TypeParam;
  const std::vector<T> x = {T{0}, kInfinity<T>, -kInfinity<T>, kNaN<T>, T{-100}, T{100}};
  const std::vector<T> dy(6, T{2});
  const std::vector<T> y_want = {0, kInfinity<T>, 0, kNaN<T>, 0, 100};
  const std::vector<T> dx_want = {1, 2, 0, kNaN<T>, 0, 2};
  std::vector<T> y(6);
  on_each_target([&] {
    gelu_run(6, x.data(), y.data());
    EXPECT_TRUE(all_near(y, y_want, 0));
    gelu_backward_run(6, x.data(), dy.data(), y.data());
    EXPECT_TRUE(all_near(y, dx_want, 0));
  });
  gelu_run_reference(6, x.data(), y.data());
  EXPECT_TRUE(all_near(y, y_want, 0));
  gelu_backward_run_reference(6, x.data(), dy.data(), y.data());
  EXPECT_TRUE(all_near(y, dx_want, 0));
}

TYPED_TEST(GeluKernels, BitsDependOnNeitherPositionNorThreads) {
  using T = TypeParam;
  const std::vector<T> x = random_values<T>(70001, -5, 5);
  const std::vector<T> dy = random_values<T>(70001, -5, 5, 2);
  std::vector<T> alone(x.size());
  std::vector<T> slope_alone(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    gelu_run(1, &x[i], &alone[i]);
    gelu_backward_run(1, &x[i], &dy[i], &slope_alone[i]);
  }
  with_each_thread_count([&] {
    std::vector<T> y(x.size());
    gelu_run(70001, x.data(), y.data());
    EXPECT_TRUE(all_same_bits(y, alone));
    gelu_backward_run(70001, x.data(), dy.data(), y.data());
    EXPECT_TRUE(all_same_bits(y, slope_alone));
  });
}

}  // namespace
}  // namespace lookback::kernels
