// Softmax kernels: near their plain twins (only the rounding of exp and log differs) and, given
// their own exp and log, equal to the definition to the bit; exact where the definition is exact;
// the bits of a row independent of masked keys behind it, of the other rows and of threads.
#include "engine/kernels/softmax.h"

#include <numeric>

#include "engine/kernels/lane_sum.h"
#include "engine/kernels/unary.h"
#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T>
constexpr double kTolerance = 8 * std::numeric_limits<T>::epsilon();

// f(rows, n, x, x_stride, y, y_stride)
template <class T>
using RowMap = void (*)(int64_t, int64_t, const T*, int64_t, T*, int64_t);
// f(rows, n, y, dy, dx)
template <class T>
using RowGradient = void (*)(int64_t, int64_t, const T*, const T*, T*);

template <class T>
std::vector<T> apply(RowMap<T> f, int64_t rows, int64_t n, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  f(rows, n, x.data(), n, y.data(), n);
  return y;
}

template <class T>
std::vector<T> causal_scores(int64_t n) {
  std::vector<T> x = random_values<T>(n * n, -4, 4);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) x[static_cast<size_t>(i * n + j)] = -kInfinity<T>;
  }
  return x;
}

template <class T>
void expect_near_twin(RowMap<T> f, RowMap<T> twin) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      const int64_t x_stride = n + 3;
      const int64_t y_stride = n + 1;
      const std::vector<T> x = random_values<T>(5 * x_stride, -20, 20);
      std::vector<T> y(static_cast<size_t>(5 * y_stride), T{77});
      std::vector<T> want(y);
      f(5, n, x.data(), x_stride, y.data(), y_stride);
      twin(5, n, x.data(), x_stride, want.data(), y_stride);
      ASSERT_TRUE(all_near(y, want, kTolerance<T>)) << "n = " << n;
    }
  });
}

// A row with m masked keys at its end has the bits of the row without them.
template <class T>
void expect_masked_end_changes_nothing(RowMap<T> f, T masked_result) {
  on_each_target([&] {
    for (const int64_t n : {1, 7, 16, 33, 100}) {
      const std::vector<T> row = random_values<T>(n, -4, 4);
      const std::vector<T> alone = apply(f, 1, n, row);
      for (const int64_t masked : {1, 5, 16, 64, 77}) {
        std::vector<T> longer = row;
        std::vector<T> want = alone;
        longer.resize(static_cast<size_t>(n + masked), -kInfinity<T>);
        want.resize(static_cast<size_t>(n + masked), masked_result);
        ASSERT_TRUE(all_same_bits(apply(f, 1, n + masked, longer), want)) << n << " + " << masked;
      }
    }
  });
}

template <class T>
void expect_threads_change_nothing(RowMap<T> f) {
  const std::vector<T> x = causal_scores<T>(260);
  std::vector<T> one_by_one(x.size());
  for (int64_t r = 0; r < 260; ++r) {
    f(1, 260, x.data() + r * 260, 260, one_by_one.data() + r * 260, 260);
  }
  with_each_thread_count([&] { ASSERT_TRUE(all_same_bits(apply(f, 260, 260, x), one_by_one)); });
}

template <class T>
void expect_in_place(RowMap<T> f) {
  for (const int64_t n : kSizes) {
    std::vector<T> x = random_values<T>(3 * n, -4, 4);
    const std::vector<T> want = apply(f, 3, n, x);
    f(3, n, x.data(), n, x.data(), n);
    ASSERT_TRUE(all_same_bits(x, want)) << "n = " << n;
  }
}

template <class T>
class SoftmaxKernels : public ::testing::Test {};
TYPED_TEST_SUITE(SoftmaxKernels, Floats);

TYPED_TEST(SoftmaxKernels, SoftmaxAgreesWithItsTwin) {
  expect_near_twin<TypeParam>(softmax_rows, softmax_rows_reference<TypeParam>);
}

TYPED_TEST(SoftmaxKernels, LogSoftmaxAgreesWithItsTwin) {
  expect_near_twin<TypeParam>(log_softmax_rows, log_softmax_rows_reference<TypeParam>);
}

// y[k] = exp(x[k] - largest) / sum, where the sum has the order of lane_sum.h: no tolerance.
TYPED_TEST(SoftmaxKernels, TheSumHasTheOneOrder) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      if (n == 0) continue;
      const std::vector<T> x = random_values<T>(n, -6, 6);
      const T largest = *std::max_element(x.begin(), x.end());
      std::vector<T> e;
      for (const T value : x) e.push_back(value - largest);
      exp_run(n, e.data(), e.data());
      const T sum = lane_sum<T>(n, [&](int64_t k) { return e[static_cast<size_t>(k)]; });
      std::vector<T> want;
      for (const T value : e) want.push_back(value / sum);
      ASSERT_TRUE(all_same_bits(apply<T>(softmax_rows, 1, n, x), want)) << "n = " << n;
      std::vector<T> log_sum = {sum};
      log_run(1, log_sum.data(), log_sum.data());
      for (size_t k = 0; k < x.size(); ++k) want[k] = x[k] - largest - log_sum[0];
      ASSERT_TRUE(all_same_bits(apply<T>(log_softmax_rows, 1, n, x), want)) << "log, n = " << n;
    }
  });
}

TYPED_TEST(SoftmaxKernels, MaskedKeysBehindTheRowChangeNothing) {
  expect_masked_end_changes_nothing<TypeParam>(softmax_rows, TypeParam{0});
  expect_masked_end_changes_nothing<TypeParam>(log_softmax_rows, -kInfinity<TypeParam>);
}

TYPED_TEST(SoftmaxKernels, BitsDependOnNeitherRowsNorThreads) {
  expect_threads_change_nothing<TypeParam>(softmax_rows);
  expect_threads_change_nothing<TypeParam>(log_softmax_rows);
}

TYPED_TEST(SoftmaxKernels, OutputMayBeTheInput) {
  expect_in_place<TypeParam>(softmax_rows);
  expect_in_place<TypeParam>(log_softmax_rows);
}

TYPED_TEST(SoftmaxKernels, RowsSumToOne) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      if (n == 0) continue;
      const std::vector<T> y = apply<T>(softmax_rows, 1, n, random_values<T>(n, -10, 10));
      EXPECT_NEAR(std::accumulate(y.begin(), y.end(), 0.0), 1, kTolerance<T>);
    }
  });
}

TYPED_TEST(SoftmaxKernels, ExactCases) {
  using T = TypeParam;
  constexpr T inf = kInfinity<T>;
  on_each_target([] {
    EXPECT_EQ(apply<T>(softmax_rows, 1, 1, {T{-3}}), std::vector<T>{1});
    EXPECT_EQ(apply<T>(softmax_rows, 1, 4, {5, 5, 5, 5}), std::vector<T>(4, T{0.25}));
    EXPECT_EQ(apply<T>(softmax_rows, 1, 3, {-inf, 2, -inf}), (std::vector<T>{0, 1, 0}));
    EXPECT_EQ(apply<T>(softmax_rows, 1, 2, {T{0x1p100}, T{-0x1p100}}), (std::vector<T>{1, 0}));
    EXPECT_EQ(apply<T>(log_softmax_rows, 1, 2, {T{7}, -inf}), (std::vector<T>{0, -inf}));
  });
}

TYPED_TEST(SoftmaxKernels, ARowWithoutDistributionIsNaN) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : {1, 5, 16, 33, 200}) {
      const std::vector<T> x(static_cast<size_t>(n), -kInfinity<T>);
      const std::vector<T> nan(static_cast<size_t>(n), kNaN<T>);
      EXPECT_TRUE(all_same_bits(apply<T>(softmax_rows, 1, n, x), nan)) << "n = " << n;
      EXPECT_TRUE(all_same_bits(apply<T>(log_softmax_rows, 1, n, x), nan)) << "n = " << n;
    }
  });
}

TYPED_TEST(SoftmaxKernels, NaNAndInfinityReachTheWholeRow) {
  using T = TypeParam;
  on_each_target([] {
    for (const T bad : {kNaN<T>, kInfinity<T>}) {
      for (const size_t where : {size_t{0}, size_t{20}, size_t{39}}) {
        std::vector<T> x = random_values<T>(100, -1, 1);
        std::fill(x.begin() + 40, x.end(), -kInfinity<T>);
        x[where] = bad;
        for (const T value : apply<T>(softmax_rows, 1, 100, x)) {
          ASSERT_TRUE(std::isnan(value) || (bad == kInfinity<T> && value == 0)) << value;
        }
      }
    }
  });
}

TYPED_TEST(SoftmaxKernels, GradientsEqualTheirTwins) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      const std::vector<T> y = apply<T>(softmax_rows, 3, n, random_values<T>(3 * n, -3, 3));
      const std::vector<T> log_y = apply<T>(log_softmax_rows, 3, n, random_values<T>(3 * n, -3, 3));
      const std::vector<T> dy = random_values<T>(3 * n, -2, 2, 2);
      std::vector<T> dx(y.size());
      std::vector<T> want(y.size());
      softmax_backward_rows(3, n, y.data(), dy.data(), dx.data());
      softmax_backward_rows_reference(3, n, y.data(), dy.data(), want.data());
      ASSERT_TRUE(all_same_bits(dx, want)) << "softmax, n = " << n;
      log_softmax_backward_rows(3, n, log_y.data(), dy.data(), dx.data());
      log_softmax_backward_rows_reference(3, n, log_y.data(), dy.data(), want.data());
      ASSERT_TRUE(all_near(dx, want, kTolerance<T>)) << "log_softmax, n = " << n;
      // To the bit, with the kernel's own exponential.
      exp_run(3 * n, log_y.data(), want.data());
      for (int64_t first = 0; first < 3 * n; first += n) {
        const T sum = lane_sum<T>(n, [&](int64_t k) { return dy[static_cast<size_t>(first + k)]; });
        for (auto k = static_cast<size_t>(first); k < static_cast<size_t>(first + n); ++k) {
          want[k] = dy[k] - want[k] * sum;
        }
      }
      ASSERT_TRUE(all_same_bits(dx, want)) << "log_softmax, n = " << n;
    }
  });
}

TYPED_TEST(SoftmaxKernels, GradientIsZeroWhereTheWeightIs) {
  using T = TypeParam;
  on_each_target([] {
    const std::vector<T> y = {0, T{0.5}, 0, T{0.5}};
    const std::vector<T> dy = {T{0x1p100}, 1, -3, 2};
    std::vector<T> dx(4);
    softmax_backward_rows(1, 4, y.data(), dy.data(), dx.data());
    EXPECT_EQ(dx, (std::vector<T>{0, T{-0.25}, 0, T{0.25}}));
  });
}

TYPED_TEST(SoftmaxKernels, LogSumExp) {
  using T = TypeParam;
  constexpr T inf = kInfinity<T>;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      const std::vector<T> x = random_values<T>(3 * (n + 2), -30, 30);
      std::vector<T> y(3);
      std::vector<T> want(3);
      logsumexp_rows(3, n, x.data(), n + 2, y.data());
      logsumexp_rows_reference(3, n, x.data(), n + 2, want.data());
      ASSERT_TRUE(all_near(y, want, kTolerance<T>)) << "n = " << n;
    }
    const std::vector<std::vector<T>> rows = {{-inf, -inf, -inf},
                                              {inf, 0, -inf},
                                              {kNaN<T>, 0, 1},
                                              {0, -inf, -inf},
                                              {-inf, kNaN<T>, -inf}};
    const std::vector<T> want = {-inf, inf, kNaN<T>, 0, kNaN<T>};
    for (size_t r = 0; r < rows.size(); ++r) {
      T y;
      logsumexp_rows(1, 3, rows[r].data(), 3, &y);
      EXPECT_TRUE(same_bits(y, want[r])) << "row " << r << ": " << y;
    }
  });
}

}  // namespace
}  // namespace lookback::kernels
