// Softmax and its relatives, row by row. Rows are contiguous; row r of x starts at
// x + r * x_stride. Outputs may be an input with the same row stride.
//
// Sums run in the order of lane_sum.h. A row followed by -inf (masked keys) has the same bits as
// the row without them, and costs no exp for them.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// y[r, k] = exp(x[r, k] - max) / sum over k of exp(x[r, k] - max). -inf gives exactly 0; a row
// of nothing but -inf has no distribution and gives NaN.
void softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                  int64_t y_stride);
void softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                  int64_t y_stride);

// From the output y: dx = y (dy - sum(y dy)); all are (rows, n) without gaps. Where y is 0, dx is
// 0.
void softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx);
void softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy, double* dx);

// y = (x - max) - log(sum(exp(x - max))).
void log_softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                      int64_t y_stride);
void log_softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                      int64_t y_stride);

// From the output y: dx = dy - exp(y) sum(dy); all are (rows, n) without gaps.
void log_softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx);
void log_softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy,
                               double* dx);

// y[r] = log(sum over k of exp(x[r, k])); -inf for a row of nothing but -inf.
void logsumexp_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y);
void logsumexp_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y);

// The plain twins, for T = float and double.
template <class T>
void softmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y,
                            int64_t y_stride);
template <class T>
void softmax_backward_rows_reference(int64_t rows, int64_t n, const T* y, const T* dy, T* dx);
template <class T>
void log_softmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y,
                                int64_t y_stride);
template <class T>
void log_softmax_backward_rows_reference(int64_t rows, int64_t n, const T* y, const T* dy, T* dx);
template <class T>
void logsumexp_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y);

}  // namespace lookback::kernels
