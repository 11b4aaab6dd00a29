// Unary kernels. The exact ones must equal their plain twins to the bit; exp, log, tanh and
// sigmoid are held to bounds in ulp against the C library in a wider type. On every SIMD target.
#include "engine/kernels/unary.h"

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T>
using Unary = void (*)(int64_t, const T*, T*);
template <class T>
using Gradient = void (*)(int64_t, const T*, const T*, T*);

template <class T>
std::vector<T> apply(Unary<T> f, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  f(static_cast<int64_t>(x.size()), x.data(), y.data());
  return y;
}

template <class T>
T apply_one(Unary<T> f, T x) {
  T y;
  f(1, &x, &y);
  return y;
}

// Numbers of every size, both signs, and the special ones.
template <class T>
std::vector<T> all_magnitudes() {
  std::vector<T> x = {T{0}, -T{0}, kInfinity<T>, -kInfinity<T>, kNaN<T>, T{1}, T{-1}};
  x.push_back(std::numeric_limits<T>::max());
  x.push_back(std::numeric_limits<T>::min());
  x.push_back(std::numeric_limits<T>::denorm_min());
  const std::vector<T> mantissa = random_values<T>(4000, 1, 2, 7);
  for (size_t i = 0; i < mantissa.size(); ++i) {
    constexpr int lowest = std::numeric_limits<T>::min_exponent - 20;
    constexpr int range = std::numeric_limits<T>::max_exponent - 1 - lowest;
    const T value = std::ldexp(mantissa[i], lowest + static_cast<int>(i) % range);
    x.push_back(i % 2 == 0 ? value : -value);
  }
  return x;
}

template <class T>
std::vector<T> usual_and_unusual() {
  std::vector<T> x = all_magnitudes<T>();
  for (const T bound : {T{0.5}, T{3}, T{20}, T{110}, T{750}}) {
    const std::vector<T> more = random_values<T>(2000, -bound, bound, 3);
    x.insert(x.end(), more.begin(), more.end());
  }
  return x;
}

// The largest error of f over those values must stay within `bound` ulp of exact.
template <class T, class Exact>
void expect_accurate(Unary<T> f, Exact exact, double bound) {
  const std::vector<T> x = usual_and_unusual<T>();
  std::vector<long double> want(x.size());
  for (size_t i = 0; i < x.size(); ++i) want[i] = exact(static_cast<long double>(x[i]));
  on_each_target([&] {
    const std::vector<T> y = apply(f, x);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulp_error(y[i], want[i]), bound) << "at " << x[i] << ": " << y[i];
    }
  });
}

// The same bits wherever an element stands, in place or not.
template <class T>
void expect_position_independent(Unary<T> f) {
  const std::vector<T> x = random_values<T>(300, -3, 3);
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      if (n > 300) break;
      for (const int64_t offset : {0, 1, 5}) {
        std::vector<T> part(x.begin() + offset, x.begin() + std::min<int64_t>(300, offset + n));
        std::vector<T> alone;
        for (const T value : part) alone.push_back(apply_one(f, value));
        f(static_cast<int64_t>(part.size()), part.data(), part.data());
        ASSERT_TRUE(all_same_bits(part, alone)) << "n = " << n;
      }
    }
  });
}

// Writes nothing beyond the run.
template <class T>
void expect_in_bounds(Unary<T> f) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      const std::vector<T> x = random_values<T>(n, -2, 2);
      std::vector<T> y(static_cast<size_t>(n) + 1, T{77});
      f(n, x.data(), y.data());
      ASSERT_EQ(y.back(), T{77}) << "n = " << n;
    }
  });
}

template <class T>
void expect_thread_independent(Unary<T> f) {
  const std::vector<T> x = random_values<T>(200001, -3, 3);
  const std::vector<T> one = apply(f, x);
  with_each_thread_count([&] { ASSERT_TRUE(all_same_bits(apply(f, x), one)); });
}

template <class T>
void expect_twin(Unary<T> f, Unary<T> twin) {
  const std::vector<T> x = usual_and_unusual<T>();
  on_each_target([&] { ASSERT_TRUE(all_same_bits(apply(f, x), apply(twin, x))); });
}

template <class T>
void expect_gradient_twin(Gradient<T> f, Gradient<T> twin) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      const std::vector<T> x = random_values<T>(n, -1, 1);
      std::vector<T> dy = random_values<T>(n, -5, 5, 2);
      if (n > 2) dy[1] = kInfinity<T>;
      std::vector<T> dx(dy.size());
      std::vector<T> want(dy.size());
      twin(n, x.data(), dy.data(), want.data());
      f(n, x.data(), dy.data(), dx.data());
      ASSERT_TRUE(all_same_bits(dx, want)) << "n = " << n;
      f(n, x.data(), dy.data(), dy.data());
      ASSERT_TRUE(all_same_bits(dy, want)) << "in place, n = " << n;
    }
  });
}

long double exact_sigmoid(long double x) {
  const long double e = std::exp(-std::fabs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

template <class T>
class UnaryKernels : public ::testing::Test {};
TYPED_TEST_SUITE(UnaryKernels, Floats);

TYPED_TEST(UnaryKernels, ExpWithinOneUlp) {
  expect_accurate<TypeParam>(
      exp_run, [](long double x) { return std::exp(x); }, 1.0);
}

TYPED_TEST(UnaryKernels, LogWithinOneUlp) {
  expect_accurate<TypeParam>(
      log_run, [](long double x) { return std::log(x); }, 1.0);
}

TYPED_TEST(UnaryKernels, TanhWithinThreeUlp) {
  expect_accurate<TypeParam>(
      tanh_run, [](long double x) { return std::tanh(x); }, 3.0);
}

TYPED_TEST(UnaryKernels, SigmoidWithinThreeUlp) {
  expect_accurate<TypeParam>(sigmoid_run, exact_sigmoid, 3.0);
}

TYPED_TEST(UnaryKernels, SpecialValues) {
  using T = TypeParam;
  on_each_target([] {
    EXPECT_TRUE(same_bits(apply_one<T>(exp_run, -kInfinity<T>), T{0}));
    EXPECT_EQ(apply_one<T>(exp_run, kInfinity<T>), kInfinity<T>);
    EXPECT_EQ(apply_one<T>(exp_run, T{0}), T{1});
    EXPECT_EQ(apply_one<T>(log_run, T{0}), -kInfinity<T>);
    EXPECT_EQ(apply_one<T>(log_run, T{1}), T{0});
    EXPECT_TRUE(std::isnan(apply_one<T>(log_run, T{-1})));
    EXPECT_EQ(apply_one<T>(tanh_run, kInfinity<T>), T{1});
    EXPECT_EQ(apply_one<T>(tanh_run, -kInfinity<T>), T{-1});
    EXPECT_TRUE(same_bits(apply_one<T>(tanh_run, -T{0}), -T{0}));
    EXPECT_EQ(apply_one<T>(sigmoid_run, kInfinity<T>), T{1});
    EXPECT_EQ(apply_one<T>(sigmoid_run, -kInfinity<T>), T{0});
    EXPECT_EQ(apply_one<T>(sigmoid_run, T{0}), T{0.5});
    for (const Unary<T> f : {Unary<T>{exp_run}, Unary<T>{log_run}, Unary<T>{tanh_run},
                             Unary<T>{sigmoid_run}, Unary<T>{relu_run}, Unary<T>{sqrt_run}}) {
      EXPECT_TRUE(std::isnan(apply_one<T>(f, kNaN<T>)));
    }
  });
}

TYPED_TEST(UnaryKernels, SubnormalResultsOfExpAreKept) {
  using T = TypeParam;
  const T x = sizeof(T) == 4 ? T{-100} : T{-740};
  on_each_target([&] { EXPECT_GT(apply_one<T>(exp_run, x), T{0}); });
}

TYPED_TEST(UnaryKernels, ExactFunctionsEqualTheirTwins) {
  using T = TypeParam;
  expect_twin<T>(sqrt_run, sqrt_run_reference<T>);
  expect_twin<T>(relu_run, relu_run_reference<T>);
  expect_twin<T>(neg_run, neg_run_reference<T>);
  expect_twin<T>(abs_run, abs_run_reference<T>);
}

TYPED_TEST(UnaryKernels, ExpBitsDoNotDependOnPosition) {
  expect_position_independent<TypeParam>(exp_run);
}

TYPED_TEST(UnaryKernels, LogBitsDoNotDependOnPosition) {
  expect_position_independent<TypeParam>(log_run);
}

TYPED_TEST(UnaryKernels, TanhBitsDoNotDependOnPosition) {
  expect_position_independent<TypeParam>(tanh_run);
}

TYPED_TEST(UnaryKernels, SigmoidBitsDoNotDependOnPosition) {
  expect_position_independent<TypeParam>(sigmoid_run);
}

TYPED_TEST(UnaryKernels, NothingIsWrittenBeyondTheRun) {
  expect_in_bounds<TypeParam>(exp_run);
  expect_in_bounds<TypeParam>(relu_run);
}

TYPED_TEST(UnaryKernels, BitsDoNotDependOnThreads) {
  expect_thread_independent<TypeParam>(exp_run);
  expect_thread_independent<TypeParam>(tanh_run);
}

TYPED_TEST(UnaryKernels, ReluGradientSelects) {
  expect_gradient_twin<TypeParam>(relu_backward_run, relu_backward_run_reference<TypeParam>);
  const std::vector<TypeParam> x = {-1, 0, 2};
  const std::vector<TypeParam> dy = {kInfinity<TypeParam>, kNaN<TypeParam>, 3};
  std::vector<TypeParam> dx(3);
  relu_backward_run(3, x.data(), dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<TypeParam>{0, 0, 3}));
}

TYPED_TEST(UnaryKernels, TanhGradientEqualsItsTwin) {
  expect_gradient_twin<TypeParam>(tanh_backward_run, tanh_backward_run_reference<TypeParam>);
}

TYPED_TEST(UnaryKernels, SigmoidGradientEqualsItsTwin) {
  expect_gradient_twin<TypeParam>(sigmoid_backward_run, sigmoid_backward_run_reference<TypeParam>);
}

}  // namespace
}  // namespace lookback::kernels
