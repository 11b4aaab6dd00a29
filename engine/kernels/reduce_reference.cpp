// The plain twin of reduce.cpp: for each row (or column) one loop over its elements.
#include "engine/kernels/reduce.h"

#include <algorithm>

#include "engine/kernels/lane_sum.h"

namespace lookback::kernels {
namespace {

// The first index whose element no other beats; a NaN beats every number.
template <class T, class Beats>
int64_t best_index(int64_t n, const T* x, Beats beats) {
  int64_t best = 0;
  for (int64_t k = 1; k < n && x[best] == x[best]; ++k) {  // a NaN differs from itself
    if (x[k] != x[k] || beats(x[k], x[best])) best = k;
  }
  return best;
}

template <class T>
int64_t largest_index(int64_t n, const T* x) {
  return best_index(n, x, [](T a, T b) { return a > b; });
}

template <class T>
int64_t smallest_index(int64_t n, const T* x) {
  return best_index(n, x, [](T a, T b) { return a < b; });
}

}  // namespace

template <class T>
T sum_run_reference(int64_t n, const T* x) {
  double sum = 0;
  for (int64_t first = 0; first < n; first += kSumBlock) {
    const int64_t size = std::min(kSumBlock, n - first);
    sum += lane_sum<double, kSumLanes>(size, [=](int64_t k) { return double{x[first + k]}; });
  }
  return static_cast<T>(sum);
}

template <class T>
void sum_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y) {
  for (int64_t r = 0; r < rows; ++r) y[r] = sum_run_reference(n, x + r * row_stride);
}

template <class T>
void sum_columns_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y) {
  for (int64_t k = 0; k < n; ++k) {
    double sum = 0;
    for (int64_t first = 0; first < rows; first += kColumnBlock) {
      const int64_t last = std::min(rows, first + kColumnBlock);
      double block = 0;
      for (int64_t r = first; r < last; ++r) block += double{x[r * row_stride + k]};
      sum += block;
    }
    y[k] = static_cast<T>(sum);
  }
}

template <class T>
void max_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += row_stride) y[r] = x[largest_index(n, x)];
}

template <class T>
void min_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += row_stride) y[r] = x[smallest_index(n, x)];
}

template <class T>
void argmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, int64_t* y) {
  for (int64_t r = 0; r < rows; ++r, x += row_stride) y[r] = largest_index(n, x);
}

template float sum_run_reference(int64_t, const float*);
template double sum_run_reference(int64_t, const double*);
template void sum_rows_reference(int64_t, int64_t, const float*, int64_t, float*);
template void sum_rows_reference(int64_t, int64_t, const double*, int64_t, double*);
template void sum_columns_reference(int64_t, int64_t, const float*, int64_t, float*);
template void sum_columns_reference(int64_t, int64_t, const double*, int64_t, double*);
template void max_rows_reference(int64_t, int64_t, const float*, int64_t, float*);
template void max_rows_reference(int64_t, int64_t, const double*, int64_t, double*);
template void min_rows_reference(int64_t, int64_t, const float*, int64_t, float*);
template void min_rows_reference(int64_t, int64_t, const double*, int64_t, double*);
template void argmax_rows_reference(int64_t, int64_t, const float*, int64_t, int64_t*);
template void argmax_rows_reference(int64_t, int64_t, const double*, int64_t, int64_t*);

#ifdef LOOKBACK_REFERENCE_KERNELS

float sum_run(int64_t n, const float* x) { return sum_run_reference(n, x); }
double sum_run(int64_t n, const double* x) { return sum_run_reference(n, x); }
void sum_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  sum_rows_reference(rows, n, x, row_stride, y);
}
void sum_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  sum_rows_reference(rows, n, x, row_stride, y);
}
void sum_columns(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  sum_columns_reference(rows, n, x, row_stride, y);
}
void sum_columns(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  sum_columns_reference(rows, n, x, row_stride, y);
}
void max_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  max_rows_reference(rows, n, x, row_stride, y);
}
void max_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  max_rows_reference(rows, n, x, row_stride, y);
}
void min_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y) {
  min_rows_reference(rows, n, x, row_stride, y);
}
void min_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y) {
  min_rows_reference(rows, n, x, row_stride, y);
}
void argmax_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, int64_t* y) {
  argmax_rows_reference(rows, n, x, row_stride, y);
}
void argmax_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, int64_t* y) {
  argmax_rows_reference(rows, n, x, row_stride, y);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
