// The plain twin of gelu.cpp: for each i, y[i] = x[i] Phi(x[i]), with erfc and exp of the C
// library.
#include "engine/kernels/gelu.h"

#include <cmath>
#include <numbers>

namespace lookback::kernels {
namespace {

// Phi(x) = erfc(-x / sqrt(2)) / 2, accurate in the left tail, where 1 + erf would cancel. In long
// double, since the tail magnifies the rounding of the argument by x^2.
template <class T>
T normal_distribution(T x) {
  return static_cast<T>(std::erfc(-x / std::numbers::sqrt2_v<long double>) / 2);
}

template <class T>
T normal_density(T x) {
  const long double square = static_cast<long double>(x) * x;
  return static_cast<T>(std::exp(-square / 2) * std::numbers::inv_sqrtpi_v<long double> /
                        std::numbers::sqrt2_v<long double>);
}

}  // namespace

template <class T>
void gelu_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    const T phi = normal_distribution(x[i]);
    y[i] = phi == 0 ? T{0} : x[i] * phi;  // -infinity too: the limit
  }
}

template <class T>
void gelu_backward_run_reference(int64_t n, const T* x, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i) {
    const T density = normal_density(x[i]);
    const T slope = density == 0 ? T{0} : x[i] * density;  // infinities too: the limit
    dx[i] = dy[i] * (normal_distribution(x[i]) + slope);
  }
}

template void gelu_run_reference(int64_t, const float*, float*);
template void gelu_run_reference(int64_t, const double*, double*);
template void gelu_backward_run_reference(int64_t, const float*, const float*, float*);
template void gelu_backward_run_reference(int64_t, const double*, const double*, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void gelu_run(int64_t n, const float* x, float* y) { gelu_run_reference(n, x, y); }
void gelu_run(int64_t n, const double* x, double* y) { gelu_run_reference(n, x, y); }
void gelu_backward_run(int64_t n, const float* x, const float* dy, float* dx) {
  gelu_backward_run_reference(n, x, dy, dx);
}
void gelu_backward_run(int64_t n, const double* x, const double* dy, double* dx) {
  gelu_backward_run_reference(n, x, dy, dx);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
