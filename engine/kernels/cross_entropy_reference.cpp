// The plain twin of cross_entropy.cpp: for each row the maximum, the sum of exponentials, the loss.
#include "engine/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/lane_sum.h"

namespace lookback::kernels {

template <class T>
void cross_entropy_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                  const int64_t* target, T* loss, T* lse) {
  for (int64_t r = 0; r < rows; ++r, logits += classes) {
    const T largest = *std::max_element(logits, logits + classes);
    const T log_sum =
        std::log(lane_sum<T>(classes, [=](int64_t k) { return std::exp(logits[k] - largest); }));
    loss[r] = log_sum + (largest - logits[target[r]]);
    lse[r] = log_sum + largest;
  }
}

template <class T>
void cross_entropy_backward_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                           const T* lse, const int64_t* target, T scale,
                                           T* dlogits) {
  for (int64_t r = 0; r < rows; ++r, logits += classes, dlogits += classes) {
    const T target_weight = std::exp(logits[target[r]] - lse[r]);
    for (int64_t k = 0; k < classes; ++k) dlogits[k] = scale * std::exp(logits[k] - lse[r]);
    dlogits[target[r]] = scale * (target_weight - T{1});
  }
}

template void cross_entropy_rows_reference(int64_t, int64_t, const float*, const int64_t*, float*,
                                           float*);
template void cross_entropy_rows_reference(int64_t, int64_t, const double*, const int64_t*, double*,
                                           double*);
template void cross_entropy_backward_rows_reference(int64_t, int64_t, const float*, const float*,
                                                    const int64_t*, float, float*);
template void cross_entropy_backward_rows_reference(int64_t, int64_t, const double*, const double*,
                                                    const int64_t*, double, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* lse) {
  cross_entropy_rows_reference(rows, classes, logits, target, loss, lse);
}
void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* lse) {
  cross_entropy_rows_reference(rows, classes, logits, target, loss, lse);
}
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* lse, const int64_t* target, float scale,
                                 float* dlogits) {
  cross_entropy_backward_rows_reference(rows, classes, logits, lse, target, scale, dlogits);
}
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* lse, const int64_t* target, double scale,
                                 double* dlogits) {
  cross_entropy_backward_rows_reference(rows, classes, logits, lse, target, scale, dlogits);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
