// One step of AdamW (Loshchilov and Hutter 2019, algorithm 2), over n contiguous parameters:
//
//   p -= lr weight_decay p                              decay, decoupled from the gradient
//   m = beta1 m + (1 - beta1) g
//   v = beta2 v + (1 - beta2) g^2
//   p -= lr (m / bias_correction1) / (sqrt(v / bias_correction2) + eps)
//
// At step t = 1, 2, ... the bias corrections are 1 - beta1^t and 1 - beta2^t.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// Changes p, m and v in place. The settings are rounded to the type of the parameters once.
void adamw_step(int64_t n, float* p, const float* g, float* m, float* v, double lr, double beta1,
                double beta2, double eps, double weight_decay, double bias_correction1,
                double bias_correction2);
void adamw_step(int64_t n, double* p, const double* g, double* m, double* v, double lr,
                double beta1, double beta2, double eps, double weight_decay,
                double bias_correction1, double bias_correction2);

// The plain twin, for T = float and double.
template <class T>
void adamw_step_reference(int64_t n, T* p, const T* g, T* m, T* v, double lr, double beta1,
                          double beta2, double eps, double weight_decay, double bias_correction1,
                          double bias_correction2);

}  // namespace lookback::kernels
