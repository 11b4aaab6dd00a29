// Layer normalization (Ba, Kiros and Hinton 2016), row by row:
//
//   y[r, k] = (x[r, k] - mean[r]) rstd[r] weight[k] + bias[k],   rstd = 1 / sqrt(variance + eps)
//
// x, y, dy, dx are (rows, n) without gaps, weight and bias (n), mean and rstd (rows). The variance
// is the mean of the squared deviations, in a second pass. weight and bias may be null: 1 and 0.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// Writes mean and rstd, which backward needs. y may be x.
void layer_norm_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                     const float* bias, double eps, float* y, float* mean, float* rstd);
void layer_norm_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                     const double* bias, double eps, double* y, double* mean, double* rstd);

// With g = dy weight and h = (x - mean) rstd: dx = rstd (g - mean(g) - h mean(g h)).
// dx may be x or dy.
void layer_norm_backward_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                              const float* mean, const float* rstd, const float* dy, float* dx);
void layer_norm_backward_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                              const double* mean, const double* rstd, const double* dy, double* dx);

// dweight[k] = sum over r of dy[r, k] h[r, k] and dbias[k] = sum over r of dy[r, k]; either may be
// null. Rows are added in order within fixed blocks, and the blocks in order.
void layer_norm_backward_parameters(int64_t rows, int64_t n, const float* x, const float* mean,
                                    const float* rstd, const float* dy, float* dweight,
                                    float* dbias);
void layer_norm_backward_parameters(int64_t rows, int64_t n, const double* x, const double* mean,
                                    const double* rstd, const double* dy, double* dweight,
                                    double* dbias);

// The plain twins, for T = float and double.
template <class T>
void layer_norm_rows_reference(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias,
                               double eps, T* y, T* mean, T* rstd);
template <class T>
void layer_norm_backward_rows_reference(int64_t rows, int64_t n, const T* x, const T* weight,
                                        const T* mean, const T* rstd, const T* dy, T* dx);
template <class T>
void layer_norm_backward_parameters_reference(int64_t rows, int64_t n, const T* x, const T* mean,
                                              const T* rstd, const T* dy, T* dweight, T* dbias);

// Rows in one block of the sums over rows.
inline constexpr int64_t kLayerNormRowBlock = 32;

}  // namespace lookback::kernels
