// The plain twin of layer_norm.cpp: for each row the mean, the variance, the result.
#include "engine/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/lane_sum.h"

namespace lookback::kernels {

template <class T>
void layer_norm_rows_reference(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias,
                               double eps, T* y, T* mean, T* rstd) {
  const T count = static_cast<T>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T center = lane_sum<T>(n, [=](int64_t k) { return x[k]; }) / count;
    const T variance =
        lane_sum<T>(n, [=](int64_t k) { return (x[k] - center) * (x[k] - center); }) / count;
    const T scale = T{1} / std::sqrt(variance + static_cast<T>(eps));
    for (int64_t k = 0; k < n; ++k) {
      const T h = (x[k] - center) * scale;
      y[k] = (weight == nullptr ? h : h * weight[k]) + (bias == nullptr ? T{0} : bias[k]);
    }
    mean[r] = center;
    rstd[r] = scale;
  }
}

template <class T>
void layer_norm_backward_rows_reference(int64_t rows, int64_t n, const T* x, const T* weight,
                                        const T* mean, const T* rstd, const T* dy, T* dx) {
  const T count = static_cast<T>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    const auto g = [=](int64_t k) { return weight == nullptr ? dy[k] : dy[k] * weight[k]; };
    const auto h = [=](int64_t k) { return (x[k] - mean[r]) * rstd[r]; };
    const T g_mean = lane_sum<T>(n, g) / count;
    const T gh_mean = lane_sum<T>(n, [=](int64_t k) { return g(k) * h(k); }) / count;
    for (int64_t k = 0; k < n; ++k) dx[k] = ((g(k) - g_mean) - h(k) * gh_mean) * rstd[r];
  }
}

template <class T>
void layer_norm_backward_parameters_reference(int64_t rows, int64_t n, const T* x, const T* mean,
                                              const T* rstd, const T* dy, T* dweight, T* dbias) {
  for (int64_t k = 0; k < n; ++k) {
    T weight_sum = 0;
    T bias_sum = 0;
    for (int64_t first = 0; first < rows; first += kLayerNormRowBlock) {
      const int64_t last = std::min(rows, first + kLayerNormRowBlock);
      T weight_block = 0;
      T bias_block = 0;
      for (int64_t r = first; r < last; ++r) {
        weight_block += dy[r * n + k] * ((x[r * n + k] - mean[r]) * rstd[r]);
        bias_block += dy[r * n + k];
      }
      weight_sum += weight_block;
      bias_sum += bias_block;
    }
    if (dweight != nullptr) dweight[k] = weight_sum;
    if (dbias != nullptr) dbias[k] = bias_sum;
  }
}

template void layer_norm_rows_reference(int64_t, int64_t, const float*, const float*, const float*,
                                        double, float*, float*, float*);
template void layer_norm_rows_reference(int64_t, int64_t, const double*, const double*,
                                        const double*, double, double*, double*, double*);
template void layer_norm_backward_rows_reference(int64_t, int64_t, const float*, const float*,
                                                 const float*, const float*, const float*, float*);
template void layer_norm_backward_rows_reference(int64_t, int64_t, const double*, const double*,
                                                 const double*, const double*, const double*,
                                                 double*);
template void layer_norm_backward_parameters_reference(int64_t, int64_t, const float*, const float*,
                                                       const float*, const float*, float*, float*);
template void layer_norm_backward_parameters_reference(int64_t, int64_t, const double*,
                                                       const double*, const double*, const double*,
                                                       double*, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void layer_norm_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                     const float* bias, double eps, float* y, float* mean, float* rstd) {
  layer_norm_rows_reference(rows, n, x, weight, bias, eps, y, mean, rstd);
}
void layer_norm_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                     const double* bias, double eps, double* y, double* mean, double* rstd) {
  layer_norm_rows_reference(rows, n, x, weight, bias, eps, y, mean, rstd);
}
void layer_norm_backward_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                              const float* mean, const float* rstd, const float* dy, float* dx) {
  layer_norm_backward_rows_reference(rows, n, x, weight, mean, rstd, dy, dx);
}
void layer_norm_backward_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                              const double* mean, const double* rstd, const double* dy,
                              double* dx) {
  layer_norm_backward_rows_reference(rows, n, x, weight, mean, rstd, dy, dx);
}
void layer_norm_backward_parameters(int64_t rows, int64_t n, const float* x, const float* mean,
                                    const float* rstd, const float* dy, float* dweight,
                                    float* dbias) {
  layer_norm_backward_parameters_reference(rows, n, x, mean, rstd, dy, dweight, dbias);
}
void layer_norm_backward_parameters(int64_t rows, int64_t n, const double* x, const double* mean,
                                    const double* rstd, const double* dy, double* dweight,
                                    double* dbias) {
  layer_norm_backward_parameters_reference(rows, n, x, mean, rstd, dy, dweight, dbias);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
