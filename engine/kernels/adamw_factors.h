// The settings of adamw_step as its loops use them, for the kernel and its plain twin.
#pragma once

#include <cmath>

namespace lookback::kernels {

// p = keep p - step m / (sqrt(v) / root + eps), after m = keep_m m + take_m g and the same for v.
template <class T>
struct AdamwFactors {
  T keep, keep_m, take_m, keep_v, take_v, step, root, eps;
};

template <class T>
AdamwFactors<T> adamw_factors(double lr, double beta1, double beta2, double eps,
                              double weight_decay, double bias_correction1,
                              double bias_correction2) {
  return {static_cast<T>(1 - lr * weight_decay),
          static_cast<T>(beta1),
          static_cast<T>(1 - beta1),
          static_cast<T>(beta2),
          static_cast<T>(1 - beta2),
          static_cast<T>(lr / bias_correction1),
          static_cast<T>(std::sqrt(bias_correction2)),
          static_cast<T>(eps)};
}

}  // namespace lookback::kernels
