// The plain twin of adamw.cpp: for each parameter the four lines of adamw.h.
#include "engine/kernels/adamw.h"

#include <cmath>

#include "engine/kernels/adamw_factors.h"

namespace lookback::kernels {

template <class T>
void adamw_step_reference(int64_t n, T* p, const T* g, T* m, T* v, double lr, double beta1,
                          double beta2, double eps, double weight_decay, double bias_correction1,
                          double bias_correction2) {
  const auto f =
      adamw_factors<T>(lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2);
  for (int64_t i = 0; i < n; ++i) {
    m[i] = f.keep_m * m[i] + f.take_m * g[i];
    v[i] = f.keep_v * v[i] + f.take_v * (g[i] * g[i]);
    p[i] = f.keep * p[i] - f.step * (m[i] / (std::sqrt(v[i]) / f.root + f.eps));
  }
}

template void adamw_step_reference(int64_t, float*, const float*, float*, float*, double, double,
                                   double, double, double, double, double);
template void adamw_step_reference(int64_t, double*, const double*, double*, double*, double,
                                   double, double, double, double, double, double);

#ifdef LOOKBACK_REFERENCE_KERNELS

void adamw_step(int64_t n, float* p, const float* g, float* m, float* v, double lr, double beta1,
                double beta2, double eps, double weight_decay, double bias_correction1,
                double bias_correction2) {
  adamw_step_reference(n, p, g, m, v, lr, beta1, beta2, eps, weight_decay, bias_correction1,
                       bias_correction2);
}
void adamw_step(int64_t n, double* p, const double* g, double* m, double* v, double lr,
                double beta1, double beta2, double eps, double weight_decay,
                double bias_correction1, double bias_correction2) {
  adamw_step_reference(n, p, g, m, v, lr, beta1, beta2, eps, weight_decay, bias_correction1,
                       bias_correction2);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
