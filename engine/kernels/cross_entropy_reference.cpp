// The plain twin of cross_entropy.cpp: for each row the maximum, the sum of exponentials, the loss.
#include "engine/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/lane_sum.h"

namespace lookback::kernels {

template <class T>
void cross_entropy_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                  const int64_t* target, T* loss, T* largest, T* log_sum) {
  for (int64_t r = 0; r < rows; ++r, logits += classes) {
    const T max = *std::max_element(logits, logits + classes);
    largest[r] = max;
    log_sum[r] =
        std::log(lane_sum<T>(classes, [=](int64_t k) { return std::exp(logits[k] - max); }));
    loss[r] = log_sum[r] + (max - logits[target[r]]);
  }
}

template <class T>
void cross_entropy_backward_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                           const T* largest, const T* log_sum,
                                           const int64_t* target, T scale, T* dlogits) {
  for (int64_t r = 0; r < rows; ++r, logits += classes, dlogits += classes) {
    const auto weight = [=](int64_t k) { return std::exp((logits[k] - largest[r]) - log_sum[r]); };
    const T target_weight = weight(target[r]);
    for (int64_t k = 0; k < classes; ++k) dlogits[k] = scale * weight(k);
    dlogits[target[r]] = scale * (target_weight - T{1});
  }
}

template void cross_entropy_rows_reference(int64_t, int64_t, const float*, const int64_t*, float*,
                                           float*, float*);
template void cross_entropy_rows_reference(int64_t, int64_t, const double*, const int64_t*, double*,
                                           double*, double*);
template void cross_entropy_backward_rows_reference(int64_t, int64_t, const float*, const float*,
                                                    const float*, const int64_t*, float, float*);
template void cross_entropy_backward_rows_reference(int64_t, int64_t, const double*, const double*,
                                                    const double*, const int64_t*, double, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* largest, float* log_sum) {
  cross_entropy_rows_reference(rows, classes, logits, target, loss, largest, log_sum);
}
void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* largest, double* log_sum) {
  cross_entropy_rows_reference(rows, classes, logits, target, loss, largest, log_sum);
}
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* largest, const float* log_sum, const int64_t* target,
                                 float scale, float* dlogits) {
  cross_entropy_backward_rows_reference(rows, classes, logits, largest, log_sum, target, scale,
                                        dlogits);
}
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* largest, const double* log_sum,
                                 const int64_t* target, double scale, double* dlogits) {
  cross_entropy_backward_rows_reference(rows, classes, logits, largest, log_sum, target, scale,
                                        dlogits);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
