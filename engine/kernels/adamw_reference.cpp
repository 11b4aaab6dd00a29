// The plain twin of adamw.cpp: for each parameter the four lines of adamw.h.
#include "engine/kernels/adamw.h"

#include <cmath>

namespace lookback::kernels {

template <class T>
void adamw_step_reference(int64_t n, T* p, const T* g, T* m, T* v, double lr, double beta1,
                          double beta2, double eps, double weight_decay, double bias_correction1,
                          double bias_correction2) {
  const T keep = static_cast<T>(1 - lr * weight_decay);
  const T keep_m = static_cast<T>(beta1);
  const T take_m = static_cast<T>(1 - beta1);
  const T keep_v = static_cast<T>(beta2);
  const T take_v = static_cast<T>(1 - beta2);
  const T step = static_cast<T>(lr / bias_correction1);
  const T root = static_cast<T>(std::sqrt(bias_correction2));
  const T floor = static_cast<T>(eps);
  for (int64_t i = 0; i < n; ++i) {
    m[i] = keep_m * m[i] + take_m * g[i];
    v[i] = keep_v * v[i] + take_v * (g[i] * g[i]);
    p[i] = keep * p[i] - step * (m[i] / (std::sqrt(v[i]) / root + floor));
  }
}

template void adamw_step_reference(int64_t, float*, const float*, float*, float*, double, double,
                                   double, double, double, double, double);
template void adamw_step_reference(int64_t, double*, const double*, double*, double*, double,
                                   double, double, double, double, double, double);

#if 1  // until the fast twin is here

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
