// Cross-entropy of rows of logits against class indices, fused with its log-softmax.
//
// logits and dlogits are (rows, classes) without gaps; target, loss, largest and log_sum are
// (rows).
// REQUIRES: 0 <= target[r] < classes.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// loss[r] = log_sum[r] + (largest[r] - logits[r, target[r]]), where largest is the row's maximum
// and log_sum the log of the sum of exp(logits - largest).
void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* largest, float* log_sum);
void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* largest, double* log_sum);

// dlogits[r, k] = scale (exp((logits[r, k] - largest[r]) - log_sum[r]) - [k = target[r]]); the
// bracket is 1 or 0. Not exp(logits - (largest + log_sum)): that sum rounds, and logits near 1000
// would cost the gradient four digits. dlogits may be logits.
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* largest, const float* log_sum, const int64_t* target,
                                 float scale, float* dlogits);
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* largest, const double* log_sum,
                                 const int64_t* target, double scale, double* dlogits);

// The plain twins, for T = float and double.
template <class T>
void cross_entropy_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                  const int64_t* target, T* loss, T* largest, T* log_sum);
template <class T>
void cross_entropy_backward_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                           const T* largest, const T* log_sum,
                                           const int64_t* target, T scale, T* dlogits);

}  // namespace lookback::kernels
