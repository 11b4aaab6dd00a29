// Sums and extrema, vectorised:
//
//   sums: for each row, for each block of kSumBlock elements: add in the order of lane_sum.h, in
//         double; then add up the blocks
//   columns: for each block of kColumnBlock rows and each k: add up the rows; then the blocks
//   max, min: for each row: the largest of lane j mod kLanes, then the lanes by halves
//   argmax: for each row: the maximum, then the first element equal to it
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/reduce.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include <algorithm>
#include <limits>
#include <vector>

#include "engine/kernels/reduce.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
double SumBlock(int64_t n, const T* x) {
  return LaneSum<double, kSumLanes>(n, [=](auto at) HWY_ATTR { return at.Load(x); });
}

// sum[k] += x[r, k] for the rows of one block, in order. Four rows at a time share the traffic.
template <class T>
void AddRows(int64_t rows, int64_t n, const T* x, int64_t stride, double* sum) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4, x += 4 * stride) {
    EachVector<double>(n, [=](auto at) HWY_ATTR {
      auto total = hn::Add(at.Load(sum), at.Load(x));
      total = hn::Add(total, at.Load(x + stride));
      total = hn::Add(total, at.Load(x + 2 * stride));
      at.Store(hn::Add(total, at.Load(x + 3 * stride)), sum);
    });
  }
  for (; r < rows; ++r, x += stride) {
    EachVector<double>(n,
                       [=](auto at) HWY_ATTR { at.Store(hn::Add(at.Load(sum), at.Load(x)), sum); });
  }
}

// The extremum of the numbers of the run, or NaN when there is a NaN. Twice the usual lanes: the
// order does not matter here, and Max waits for its predecessor.
template <class T, class Op>
HWY_INLINE T Extremum(int64_t n, const T* x, T start, Op op) {
  const Tag<T> d;
  auto nan = hn::FirstN(d, 0);
  const T result = LaneFold<T, 2 * kLanes<T>>(n, start, op, [x, &nan](auto at) HWY_ATTR {
    const auto value = at.Load(x);
    nan = hn::Or(nan, hn::IsNaN(value));
    return value;
  });
  return hn::AllFalse(d, nan) ? result : std::numeric_limits<T>::quiet_NaN();
}

struct MinOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Min(a, b);
  }
};

template <class T>
T Largest(int64_t n, const T* x) {
  return Extremum(n, x, -std::numeric_limits<T>::infinity(), MaxOp());
}

template <class T>
T Smallest(int64_t n, const T* x) {
  return Extremum(n, x, std::numeric_limits<T>::infinity(), MinOp());
}

// The first index of the largest element, or of the first NaN.
template <class T>
int64_t FirstLargest(int64_t n, const T* x) {
  const Tag<T> d;
  const T largest = Largest(n, x);
  const auto all_largest = hn::Set(d, largest);
  int64_t k = 0;
  for (; k + kSize<Tag<T>> <= n; k += kSize<Tag<T>>) {
    const auto value = hn::LoadU(d, x + k);
    const auto found = hn::Or(hn::IsNaN(value), hn::Eq(value, all_largest));
    const auto first = hn::FindFirstTrue(d, found);
    if (first >= 0) return k + first;
  }
  while (x[k] == x[k] && x[k] != largest) ++k;
  return k;
}

double SumF32(int64_t n, const float* x) { return SumBlock(n, x); }
double SumF64(int64_t n, const double* x) { return SumBlock(n, x); }
void AddRowsF32(int64_t rows, int64_t n, const float* x, int64_t stride, double* sum) {
  AddRows(rows, n, x, stride, sum);
}
void AddRowsF64(int64_t rows, int64_t n, const double* x, int64_t stride, double* sum) {
  AddRows(rows, n, x, stride, sum);
}
float LargestF32(int64_t n, const float* x) { return Largest(n, x); }
double LargestF64(int64_t n, const double* x) { return Largest(n, x); }
float SmallestF32(int64_t n, const float* x) { return Smallest(n, x); }
double SmallestF64(int64_t n, const double* x) { return Smallest(n, x); }
int64_t FirstLargestF32(int64_t n, const float* x) { return FirstLargest(n, x); }
int64_t FirstLargestF64(int64_t n, const double* x) { return FirstLargest(n, x); }

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

constexpr int64_t kGrain = 65536;

HWY_EXPORT(SumF32);
HWY_EXPORT(SumF64);
HWY_EXPORT(AddRowsF32);
HWY_EXPORT(AddRowsF64);
HWY_EXPORT(LargestF32);
HWY_EXPORT(LargestF64);
HWY_EXPORT(SmallestF32);
HWY_EXPORT(SmallestF64);
HWY_EXPORT(FirstLargestF32);
HWY_EXPORT(FirstLargestF64);

// The sum of each block is one task for the threads; their sum is the order of the blocks.
template <class T>
double sum_blocks(int64_t n, const T* x, double (*block_sum)(int64_t, const T*)) {
  if (n <= kSumBlock) return block_sum(n, x);
  const int64_t blocks = (n + kSumBlock - 1) / kSumBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  double* const sum = sums.data();
  parallel_for(blocks, kGrain / kSumBlock, [=](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      sum[b] = block_sum(std::min(kSumBlock, n - b * kSumBlock), x + b * kSumBlock);
    }
  });
  double total = 0;
  for (const double block : sums) total += block;
  return total;
}

// y[r] = f(row r).
template <class T, class Result, class Function>
void each_row(int64_t rows, int64_t n, const T* x, int64_t stride, Result* y, Function f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n));
  parallel_for(rows, grain, [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) y[r] = static_cast<Result>(f(n, x + r * stride));
  });
}

// Tasks are blocks of rows by strips of columns, so that tall and wide inputs both divide.
template <class T, class Function>
void sum_rows_of_blocks(int64_t rows, int64_t n, const T* x, int64_t stride, T* y,
                        Function add_rows) {
  constexpr int64_t kStrip = 1024;
  const int64_t blocks = (rows + kColumnBlock - 1) / kColumnBlock;
  const int64_t strips = (n + kStrip - 1) / kStrip;
  std::vector<double> sums(static_cast<size_t>(blocks * n));  // (blocks, n)
  double* const sum = sums.data();
  const int64_t task = std::min(rows, kColumnBlock) * std::min(n, kStrip);
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, task));
  parallel_for(blocks * strips, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i / strips * kColumnBlock;
      const int64_t k = i % strips * kStrip;
      add_rows(std::min(kColumnBlock, rows - r), std::min(kStrip, n - k), x + r * stride + k,
               stride, sum + i / strips * n + k);
    }
  });
  for (int64_t k = 0; k < n; ++k) {
    double total = 0;
    for (int64_t b = 0; b < blocks; ++b) total += sum[b * n + k];
    y[k] = static_cast<T>(total);
  }
}

}  // namespace

float sum_run(int64_t n, const float* x) {
  return static_cast<float>(sum_blocks(n, x, HWY_DYNAMIC_DISPATCH(SumF32)));
}

double sum_run(int64_t n, const double* x) {
  return sum_blocks(n, x, HWY_DYNAMIC_DISPATCH(SumF64));
}

void sum_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  const auto block_sum = HWY_DYNAMIC_DISPATCH(SumF32);
  each_row(rows, n, x, row_stride, y,
           [=](int64_t size, const float* row) { return sum_blocks(size, row, block_sum); });
}

void sum_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  const auto block_sum = HWY_DYNAMIC_DISPATCH(SumF64);
  each_row(rows, n, x, row_stride, y,
           [=](int64_t size, const double* row) { return sum_blocks(size, row, block_sum); });
}

void sum_columns(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  sum_rows_of_blocks(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(AddRowsF32));
}

void sum_columns(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  sum_rows_of_blocks(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(AddRowsF64));
}

void max_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(LargestF32));
}

void max_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(LargestF64));
}

void min_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(SmallestF32));
}

void min_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(SmallestF64));
}

void argmax_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, int64_t* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(FirstLargestF32));
}

void argmax_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, int64_t* y) {
  each_row(rows, n, x, row_stride, y, HWY_DYNAMIC_DISPATCH(FirstLargestF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
