// Layer normalization: no function here is inexact beyond IEEE arithmetic, so every SIMD target
// must equal the plain twin to the bit; and the twin is held to long double.
#include "engine/kernels/layer_norm.h"

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

constexpr double kEps = 1e-5;

template <class T>
struct Forward {
  std::vector<T> y, mean, rstd;
};

template <class T>
Forward<T> forward(int64_t rows, int64_t n, const std::vector<T>& x, const T* weight,
                   const T* bias) {
  const auto count = static_cast<size_t>(rows);
  Forward<T> out{std::vector<T>(x.size()), std::vector<T>(count), std::vector<T>(count)};
  layer_norm_rows(rows, n, x.data(), weight, bias, kEps, out.y.data(), out.mean.data(),
                  out.rstd.data());
  return out;
}

template <class T>
struct Parameters {
  std::vector<T> dweight, dbias;
};

template <class T>
Parameters<T> parameter_gradients(int64_t rows, int64_t n, const std::vector<T>& x,
                                  const Forward<T>& at, const std::vector<T>& dy) {
  const auto count = static_cast<size_t>(n);
  Parameters<T> out{std::vector<T>(count), std::vector<T>(count)};
  layer_norm_backward_parameters(rows, n, x.data(), at.mean.data(), at.rstd.data(), dy.data(),
                                 out.dweight.data(), out.dbias.data());
  return out;
}

template <class T>
class LayerNormKernels : public ::testing::Test {};
TYPED_TEST_SUITE(LayerNormKernels, Floats);

TYPED_TEST(LayerNormKernels, ForwardEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      if (n == 0) continue;
      const std::vector<T> x = random_values<T>(3 * n, -2, 5);
      const std::vector<T> weight = random_values<T>(n, -1, 2, 2);
      const std::vector<T> bias = random_values<T>(n, -1, 1, 3);
      for (const T* w : {weight.data(), static_cast<const T*>(nullptr)}) {
        for (const T* b : {bias.data(), static_cast<const T*>(nullptr)}) {
          const Forward<T> out = forward(3, n, x, w, b);
          Forward<T> want = out;
          layer_norm_rows_reference(3, n, x.data(), w, b, kEps, want.y.data(), want.mean.data(),
                                    want.rstd.data());
          ASSERT_TRUE(all_same_bits(out.y, want.y)) << "n = " << n;
          ASSERT_TRUE(all_same_bits(out.mean, want.mean)) << "n = " << n;
          ASSERT_TRUE(all_same_bits(out.rstd, want.rstd)) << "n = " << n;
        }
      }
    }
  });
}

TYPED_TEST(LayerNormKernels, BackwardEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      if (n == 0) continue;
      const std::vector<T> x = random_values<T>(3 * n, -2, 5);
      const std::vector<T> dy = random_values<T>(3 * n, -2, 2, 4);
      const std::vector<T> weight = random_values<T>(n, -1, 2, 2);
      for (const T* w : {weight.data(), static_cast<const T*>(nullptr)}) {
        const Forward<T> at = forward<T>(3, n, x, w, nullptr);
        std::vector<T> dx(x.size());
        std::vector<T> want(x.size());
        layer_norm_backward_rows(3, n, x.data(), w, at.mean.data(), at.rstd.data(), dy.data(),
                                 dx.data());
        layer_norm_backward_rows_reference(3, n, x.data(), w, at.mean.data(), at.rstd.data(),
                                           dy.data(), want.data());
        ASSERT_TRUE(all_same_bits(dx, want)) << "n = " << n;
      }
    }
  });
}

TYPED_TEST(LayerNormKernels, ParameterGradientsEqualTheirTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t rows : {1, 3, 4, 31, 32, 33, 100}) {
      for (const int64_t n : {1, 7, 16, 33, 100}) {
        const std::vector<T> x = random_values<T>(rows * n, -2, 5);
        const std::vector<T> dy = random_values<T>(rows * n, -2, 2, 4);
        const Forward<T> at = forward<T>(rows, n, x, nullptr, nullptr);
        const Parameters<T> out = parameter_gradients(rows, n, x, at, dy);
        Parameters<T> want = out;
        layer_norm_backward_parameters_reference(rows, n, x.data(), at.mean.data(), at.rstd.data(),
                                                 dy.data(), want.dweight.data(), want.dbias.data());
        ASSERT_TRUE(all_same_bits(out.dweight, want.dweight)) << rows << " x " << n;
        ASSERT_TRUE(all_same_bits(out.dbias, want.dbias)) << rows << " x " << n;
      }
    }
  });
}

TYPED_TEST(LayerNormKernels, ParameterGradientsMayBeLeftOut) {
  using T = TypeParam;
  const std::vector<T> x = {1, 2, 4, 8};
  const std::vector<T> dy = {1, 2, 3, 4};
  const Forward<T> at = forward<T>(2, 2, x, nullptr, nullptr);
  std::vector<T> dbias(2);
  layer_norm_backward_parameters(2, 2, x.data(), at.mean.data(), at.rstd.data(), dy.data(),
                                 static_cast<T*>(nullptr), dbias.data());
  EXPECT_EQ(dbias, (std::vector<T>{4, 6}));
}

TYPED_TEST(LayerNormKernels, ALargeOffsetDoesNotSpoilTheVariance) {
  using T = TypeParam;
  const T offset = 4096;
  std::vector<T> x = {1, 2, 3, 4};
  for (T& value : x) value += offset;
  const Forward<T> out = forward<T>(1, 4, x, nullptr, nullptr);
  EXPECT_EQ(out.mean[0], offset + T{2.5});
  EXPECT_NEAR(out.rstd[0], 1 / std::sqrt(1.25 + kEps), 1e-6);
}

TYPED_TEST(LayerNormKernels, RowsHaveMeanZeroAndVarianceOne) {
  using T = TypeParam;
  const int64_t n = 777;
  const Forward<T> out = forward<T>(1, n, random_values<T>(n, -50, 90), nullptr, nullptr);
  long double sum = 0;
  long double squares = 0;
  for (const T value : out.y) {
    sum += value;
    squares += static_cast<long double>(value) * value;
  }
  EXPECT_NEAR(static_cast<double>(sum / n), 0, 1e-6);
  EXPECT_NEAR(static_cast<double>(squares / n), 1, 1e-5);
}

TYPED_TEST(LayerNormKernels, AConstantRowGivesTheBias) {
  using T = TypeParam;
  const std::vector<T> weight = {1, 2, 3};
  const std::vector<T> bias = {4, 5, 6};
  EXPECT_EQ(forward<T>(1, 3, {7, 7, 7}, weight.data(), bias.data()).y, bias);
}

TYPED_TEST(LayerNormKernels, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  const int64_t rows = 300;
  const int64_t n = 301;
  const std::vector<T> x = random_values<T>(rows * n, -2, 5);
  const std::vector<T> dy = random_values<T>(rows * n, -2, 2, 4);
  const std::vector<T> weight = random_values<T>(n, -1, 2, 2);
  const Forward<T> want = forward<T>(rows, n, x, weight.data(), nullptr);
  const Parameters<T> want_parameters = parameter_gradients(rows, n, x, want, dy);
  with_each_thread_count([&] {
    const Forward<T> out = forward<T>(rows, n, x, weight.data(), nullptr);
    EXPECT_TRUE(all_same_bits(out.y, want.y));
    const Parameters<T> parameters = parameter_gradients(rows, n, x, out, dy);
    EXPECT_TRUE(all_same_bits(parameters.dweight, want_parameters.dweight));
    EXPECT_TRUE(all_same_bits(parameters.dbias, want_parameters.dbias));
  });
}

}  // namespace
}  // namespace lookback::kernels
