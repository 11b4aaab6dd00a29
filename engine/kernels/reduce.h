// Sums and extrema: of a run, of each row, of each column. Rows are contiguous; row r of x starts
// at x + r * row_stride. Outputs must not overlap inputs.
//
// Sums are carried in double, also those of floats, and rounded once at the end. The order is
// fixed: lane_sum.h, with kSumLanes lanes, within blocks of kSumBlock elements, then block by
// block. Nothing but the values can change a bit of the result, and zeros at the end cannot either.
#pragma once

#include <cstdint>

namespace lookback::kernels {

inline constexpr int64_t kSumBlock = 4096;
inline constexpr int64_t kSumLanes = 32;

// x[0] + ... + x[n-1]; 0 for n = 0.
float sum_run(int64_t n, const float* x);
double sum_run(int64_t n, const double* x);

// y[r] = sum over k of x[r, k], with the bits of sum_run on the row.
void sum_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y);
void sum_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y);

// y[k] = sum over r of x[r, k]: rows in order within blocks of kColumnBlock, then block after
// block.
inline constexpr int64_t kColumnBlock = 256;
void sum_columns(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y);
void sum_columns(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y);

// y[r] = the largest, or the smallest, of row r; NaN when the row holds a NaN. REQUIRES: n >= 1.
void max_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y);
void max_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y);
void min_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, float* y);
void min_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, double* y);

// y[r] = the first index of the largest element of row r; NaN counts as larger than any number.
// REQUIRES: n >= 1.
void argmax_rows(int64_t rows, int64_t n, const float* x, int64_t row_stride, int64_t* y);
void argmax_rows(int64_t rows, int64_t n, const double* x, int64_t row_stride, int64_t* y);

// The plain twins, for T = float and double.
template <class T>
T sum_run_reference(int64_t n, const T* x);
template <class T>
void sum_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y);
template <class T>
void sum_columns_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y);
template <class T>
void max_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y);
template <class T>
void min_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, T* y);
template <class T>
void argmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t row_stride, int64_t* y);

}  // namespace lookback::kernels
