// Reductions equal their plain twins to the bit on every SIMD target; large sums are accurate;
// neither threads nor zeros behind the data change a bit.
#include "engine/kernels/reduce.h"

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T, class Result>
using RowReduce = void (*)(int64_t, int64_t, const T*, int64_t, Result*);

template <class T, class Result>
void expect_twin(RowReduce<T, Result> f, RowReduce<T, Result> twin, bool specials) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      if (n == 0) continue;
      const int64_t stride = n + 2;
      std::vector<T> x = random_values<T>(6 * stride, -2, 2);
      for (T& value : x) value = std::round(value * 50);  // ties
      const auto at = [=](int64_t r, int64_t k) { return static_cast<size_t>(r * stride + k % n); };
      if (specials) {
        x[at(1, n / 2)] = kNaN<T>;
        x[at(2, n - 1)] = kNaN<T>;
        x[at(3, 0)] = kNaN<T>;
        x[at(3, 20)] = kInfinity<T>;
        x[at(4, 3)] = -kInfinity<T>;
        for (int64_t k = 0; k < n; ++k) x[at(5, k)] = -kInfinity<T>;
      }
      std::vector<Result> y(7, Result{77});
      std::vector<Result> want(y);
      f(6, n, x.data(), stride, y.data());
      twin(6, n, x.data(), stride, want.data());
      for (size_t r = 0; r < y.size(); ++r) {
        ASSERT_TRUE(y[r] == want[r] || (y[r] != y[r] && want[r] != want[r]))
            << "n = " << n << ", row " << r << ": " << y[r] << " and " << want[r];
      }
    }
  });
}

template <class T>
class ReduceKernels : public ::testing::Test {};
TYPED_TEST_SUITE(ReduceKernels, Floats);

TYPED_TEST(ReduceKernels, SumEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (int64_t n : {0, 1, 2, 7, 16, 17, 33, 100, 1000, 4095, 4096, 4097, 12345}) {
      const std::vector<T> x = random_values<T>(n, -1, 2);
      ASSERT_TRUE(same_bits(sum_run(n, x.data()), sum_run_reference(n, x.data()))) << "n = " << n;
    }
  });
}

TYPED_TEST(ReduceKernels, SumOfNothingIsZero) {
  EXPECT_TRUE(same_bits(sum_run(0, static_cast<const TypeParam*>(nullptr)), TypeParam{0}));
}

TYPED_TEST(ReduceKernels, SumOfTenMillion) {
  using T = TypeParam;
  const int64_t n = 10'000'000;
  const double tenth = static_cast<double>(static_cast<T>(0.1));
  std::vector<T> x(static_cast<size_t>(n), static_cast<T>(0.1));
  EXPECT_NEAR(sum_run(n, x.data()) / (tenth * n), 1, 1e-7);
  x = random_values<T>(n, 0, 1);
  long double exact = 0;
  for (const T value : x) exact += value;
  EXPECT_NEAR(static_cast<double>(sum_run(n, x.data()) / exact), 1, 1e-7);
}

TYPED_TEST(ReduceKernels, SumOfManyColumnsIsAccurate) {
  using T = TypeParam;
  const int64_t rows = 1'000'000;
  const std::vector<T> x(static_cast<size_t>(rows), static_cast<T>(0.1));
  T y;
  sum_columns(rows, 1, x.data(), 1, &y);
  EXPECT_NEAR(y / (static_cast<double>(static_cast<T>(0.1)) * rows), 1, 1e-7);
}

TYPED_TEST(ReduceKernels, ZerosBehindTheDataChangeNoBit) {
  using T = TypeParam;
  for (const int64_t n : {1, 17, 1000, 4000, 5000}) {
    std::vector<T> x = random_values<T>(n, -1, 2);
    const T want = sum_run(n, x.data());
    x.resize(static_cast<size_t>(n + 9000), T{0});
    for (const int64_t zeros : {1, 15, 64, 3000, 9000}) {
      EXPECT_TRUE(same_bits(sum_run(n + zeros, x.data()), want)) << n << " + " << zeros;
    }
  }
}

TYPED_TEST(ReduceKernels, SumRowsEqualsItsTwin) {
  expect_twin<TypeParam, TypeParam>(sum_rows, sum_rows_reference<TypeParam>, false);
  expect_twin<TypeParam, TypeParam>(sum_rows, sum_rows_reference<TypeParam>, true);
}

TYPED_TEST(ReduceKernels, SumColumnsEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t rows : {0, 1, 3, 4, 5, 255, 256, 257, 600}) {
      for (const int64_t n : {1, 7, 16, 33, 100, 1030}) {
        const int64_t stride = n + 1;
        const std::vector<T> x = random_values<T>(rows * stride, -1, 2);
        std::vector<T> y(static_cast<size_t>(n) + 1, T{77});
        std::vector<T> want(y);
        sum_columns(rows, n, x.data(), stride, y.data());
        sum_columns_reference(rows, n, x.data(), stride, want.data());
        ASSERT_TRUE(all_same_bits(y, want)) << rows << " x " << n;
      }
    }
  });
}

TYPED_TEST(ReduceKernels, MaxEqualsItsTwin) {
  expect_twin<TypeParam, TypeParam>(max_rows, max_rows_reference<TypeParam>, false);
  expect_twin<TypeParam, TypeParam>(max_rows, max_rows_reference<TypeParam>, true);
}

TYPED_TEST(ReduceKernels, MinEqualsItsTwin) {
  expect_twin<TypeParam, TypeParam>(min_rows, min_rows_reference<TypeParam>, false);
  expect_twin<TypeParam, TypeParam>(min_rows, min_rows_reference<TypeParam>, true);
}

TYPED_TEST(ReduceKernels, ArgmaxEqualsItsTwin) {
  expect_twin<TypeParam, int64_t>(argmax_rows, argmax_rows_reference<TypeParam>, false);
  expect_twin<TypeParam, int64_t>(argmax_rows, argmax_rows_reference<TypeParam>, true);
}

TYPED_TEST(ReduceKernels, ArgmaxIsTheFirst) {
  using T = TypeParam;
  const std::vector<T> x = {1, 5, 5, 2, -1, kNaN<T>, 9, kNaN<T>};
  on_each_target([&] {
    std::vector<int64_t> y(2);
    argmax_rows(2, 4, x.data(), 4, y.data());
    EXPECT_EQ(y, (std::vector<int64_t>{1, 1}));
  });
}

TYPED_TEST(ReduceKernels, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  const int64_t rows = 1000;
  const int64_t n = 1100;
  const std::vector<T> x = random_values<T>(rows * n, -1, 2);
  const T want = sum_run_reference(rows * n, x.data());
  std::vector<T> want_rows(static_cast<size_t>(rows));
  std::vector<T> want_columns(static_cast<size_t>(n));
  sum_rows_reference(rows, n, x.data(), n, want_rows.data());
  sum_columns_reference(rows, n, x.data(), n, want_columns.data());
  with_each_thread_count([&] {
    EXPECT_TRUE(same_bits(sum_run(rows * n, x.data()), want));
    std::vector<T> y(static_cast<size_t>(rows));
    sum_rows(rows, n, x.data(), n, y.data());
    EXPECT_TRUE(all_same_bits(y, want_rows));
    y.resize(static_cast<size_t>(n));
    sum_columns(rows, n, x.data(), n, y.data());
    EXPECT_TRUE(all_same_bits(y, want_columns));
  });
}

}  // namespace
}  // namespace lookback::kernels
