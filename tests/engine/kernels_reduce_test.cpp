// Reductions equal their plain twins to the bit on every SIMD target; large sums are accurate;
// neither threads nor zeros behind the data change a bit. Where sums are compared, the values are
// such that another order of addition gives other bits, and one test shows that they are.
#include "engine/kernels/reduce.h"

#include <numeric>
#include <set>
#include <utility>

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
std::vector<T> cancelling_run(int64_t n, uint64_t seed = 1) {
  return values_that_cancel<T>(n, 1, seed);
}

// A (rows, n) array of which every row is a cancelling run.
template <class T>
std::vector<T> cancelling_rows(int64_t rows, int64_t n) {
  std::vector<T> values;
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<T> row = cancelling_run<T>(n, static_cast<uint64_t>(r) + 1);
    values.insert(values.end(), row.begin(), row.end());
  }
  return values;
}

template <class T>
class ReduceKernels : public ::testing::Test {};
TYPED_TEST_SUITE(ReduceKernels, Floats);

// What the tests of bits below rest on: for sums in double, even of floats, order matters.
TYPED_TEST(ReduceKernels, TheOrderOfAdditionShows) {
  using T = TypeParam;
  const int64_t n = 100 * kSumBlock;
  const std::vector<T> x = cancelling_run<T>(n);
  std::vector<double> blocks;
  for (int64_t first = 0; first < n; first += kSumBlock) {
    blocks.push_back(std::accumulate(x.begin() + first, x.begin() + first + kSumBlock, 0.0));
  }
  const double half = std::accumulate(x.begin(), x.begin() + n / 2, 0.0);
  const double other_half = std::accumulate(x.begin() + n / 2, x.end(), 0.0);
  const std::set<T> sums = {sum_run_reference(n, x.data()),
                            static_cast<T>(std::accumulate(x.begin(), x.end(), 0.0)),
                            static_cast<T>(std::accumulate(blocks.begin(), blocks.end(), 0.0)),
                            static_cast<T>(std::accumulate(blocks.rbegin(), blocks.rend(), 0.0)),
                            static_cast<T>(half + other_half)};
  EXPECT_EQ(sums.size(), 5);
}

TYPED_TEST(ReduceKernels, SumEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (int64_t n : {0, 1, 2, 7, 16, 17, 33, 100, 1000, 4095, 4096, 4097, 12345}) {
      const std::vector<T> x = cancelling_run<T>(n);
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
    std::vector<T> x = cancelling_run<T>(n);
    const T want = sum_run(n, x.data());
    x.resize(static_cast<size_t>(n + 9000), T{0});
    for (const int64_t zeros : {1, 15, 64, 3000, 9000}) {
      EXPECT_TRUE(same_bits(sum_run(n + zeros, x.data()), want)) << n << " + " << zeros;
    }
  }
}

TYPED_TEST(ReduceKernels, SumRowsEqualsItsTwin) {
  using T = TypeParam;
  expect_twin<T, T>(sum_rows, sum_rows_reference<T>, true);
  on_each_target([] {
    for (const int64_t n : {1, 2, 7, 33, 100, 1000, 9000}) {
      const std::vector<T> x = cancelling_rows<T>(3, n);
      std::vector<T> y(3);
      std::vector<T> want(3);
      sum_rows(3, n, x.data(), n, y.data());
      sum_rows_reference(3, n, x.data(), n, want.data());
      ASSERT_TRUE(all_same_bits(y, want)) << "n = " << n;
    }
  });
}

TYPED_TEST(ReduceKernels, SumColumnsEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t rows : {0, 1, 3, 4, 5, 255, 256, 257, 600}) {
      for (const int64_t n : {1, 7, 16, 33, 100, 1030}) {
        const int64_t stride = n + 1;
        const std::vector<T> x = values_that_cancel<T>(rows, stride);
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
  const int64_t n = 400'003;
  const std::vector<T> x = cancelling_run<T>(n);
  const T want = sum_run_reference(n, x.data());
  with_each_thread_count([&] { EXPECT_TRUE(same_bits(sum_run(n, x.data()), want)); });
}

TYPED_TEST(ReduceKernels, BitsOfRowsDoNotDependOnThreads) {
  using T = TypeParam;
  const int64_t rows = 4;
  const int64_t n = 100'000;
  const std::vector<T> x = cancelling_rows<T>(rows, n);
  std::vector<T> want(static_cast<size_t>(rows));
  sum_rows_reference(rows, n, x.data(), n, want.data());
  with_each_thread_count([&] {
    std::vector<T> y(want.size());
    sum_rows(rows, n, x.data(), n, y.data());
    EXPECT_TRUE(all_same_bits(y, want));
  });
}

TYPED_TEST(ReduceKernels, BitsOfColumnsDoNotDependOnThreads) {
  using T = TypeParam;
  for (const auto& [rows, n] : {std::pair{900, 300}, {300, 1100}, {40'000, 3}}) {
    const std::vector<T> x = values_that_cancel<T>(rows, n);
    std::vector<T> want(static_cast<size_t>(n));
    sum_columns_reference(rows, n, x.data(), n, want.data());
    with_each_thread_count([&, columns = n, count = rows] {
      std::vector<T> y(want.size());
      sum_columns(count, columns, x.data(), columns, y.data());
      EXPECT_TRUE(all_same_bits(y, want)) << count << " x " << columns;
    });
  }
}

}  // namespace
}  // namespace lookback::kernels
