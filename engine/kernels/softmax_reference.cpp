// The plain twin of softmax.cpp: for each row the maximum, the sum of exp(x - max), the result.
#include "engine/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/lane_sum.h"

namespace lookback::kernels {
namespace {

// A NaN may or may not come out: it reaches the result through exp(x - max) in any case.
template <class T>
T row_max(int64_t n, const T* x) {
  T largest = -std::numeric_limits<T>::infinity();
  for (int64_t k = 0; k < n; ++k) largest = std::max(largest, x[k]);
  return largest;
}

template <class T>
T sum_exp(int64_t n, const T* x, T shift) {
  return lane_sum<T>(n, [=](int64_t k) { return std::exp(x[k] - shift); });
}

}  // namespace

template <class T>
void softmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y,
                            int64_t y_stride) {
  for (int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    const T largest = row_max(n, x);
    const T sum = sum_exp(n, x, largest);
    for (int64_t k = 0; k < n; ++k) y[k] = std::exp(x[k] - largest) / sum;
  }
}

template <class T>
void softmax_backward_rows_reference(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const T sum = lane_sum<T>(n, [=](int64_t k) { return y[k] * dy[k]; });
    for (int64_t k = 0; k < n; ++k) dx[k] = y[k] * (dy[k] - sum);
  }
}

template <class T>
void log_softmax_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y,
                                int64_t y_stride) {
  for (int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    const T largest = row_max(n, x);
    const T log_sum = std::log(sum_exp(n, x, largest));
    for (int64_t k = 0; k < n; ++k) y[k] = (x[k] - largest) - log_sum;
  }
}

template <class T>
void log_softmax_backward_rows_reference(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const T sum = lane_sum<T>(n, [=](int64_t k) { return dy[k]; });
    for (int64_t k = 0; k < n; ++k) dx[k] = dy[k] - std::exp(y[k]) * sum;
  }
}

template <class T>
void logsumexp_rows_reference(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    const T largest = row_max(n, x);
    // A shift by an infinity would make inf - inf.
    const T shift = std::isinf(largest) ? T{0} : largest;
    y[r] = shift + std::log(sum_exp(n, x, shift));
  }
}

template void softmax_rows_reference(int64_t, int64_t, const float*, int64_t, float*, int64_t);
template void softmax_rows_reference(int64_t, int64_t, const double*, int64_t, double*, int64_t);
template void softmax_backward_rows_reference(int64_t, int64_t, const float*, const float*, float*);
template void softmax_backward_rows_reference(int64_t, int64_t, const double*, const double*,
                                              double*);
template void log_softmax_rows_reference(int64_t, int64_t, const float*, int64_t, float*, int64_t);
template void log_softmax_rows_reference(int64_t, int64_t, const double*, int64_t, double*,
                                         int64_t);
template void log_softmax_backward_rows_reference(int64_t, int64_t, const float*, const float*,
                                                  float*);
template void log_softmax_backward_rows_reference(int64_t, int64_t, const double*, const double*,
                                                  double*);
template void logsumexp_rows_reference(int64_t, int64_t, const float*, int64_t, float*);
template void logsumexp_rows_reference(int64_t, int64_t, const double*, int64_t, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                  int64_t y_stride) {
  softmax_rows_reference(rows, n, x, x_stride, y, y_stride);
}
void softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                  int64_t y_stride) {
  softmax_rows_reference(rows, n, x, x_stride, y, y_stride);
}
void softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  softmax_backward_rows_reference(rows, n, y, dy, dx);
}
void softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy, double* dx) {
  softmax_backward_rows_reference(rows, n, y, dy, dx);
}
void log_softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                      int64_t y_stride) {
  log_softmax_rows_reference(rows, n, x, x_stride, y, y_stride);
}
void log_softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                      int64_t y_stride) {
  log_softmax_rows_reference(rows, n, x, x_stride, y, y_stride);
}
void log_softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy,
                               float* dx) {
  log_softmax_backward_rows_reference(rows, n, y, dy, dx);
}
void log_softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy,
                               double* dx) {
  log_softmax_backward_rows_reference(rows, n, y, dy, dx);
}
void logsumexp_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y) {
  logsumexp_rows_reference(rows, n, x, x_stride, y);
}
void logsumexp_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y) {
  logsumexp_rows_reference(rows, n, x, x_stride, y);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
