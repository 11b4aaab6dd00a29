// Cross-entropy of rows of logits against class indices, fused with its log-softmax.
//
// logits and dlogits are (rows, classes) without gaps; target, loss and lse are (rows).
// REQUIRES: 0 <= target[r] < classes.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// loss[r] = lse[r] - logits[r, target[r]], where lse is the log of the sum of the exponentials of
// the row. Computed as log(sum(exp(logits - max))) + (max - logits[target]): no cancellation.
void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* lse);
void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* lse);

// dlogits[r, k] = scale (exp(logits[r, k] - lse[r]) - [k = target[r]]); the bracket is 1 or 0.
// dlogits may be logits.
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* lse, const int64_t* target, float scale,
                                 float* dlogits);
void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* lse, const int64_t* target, double scale,
                                 double* dlogits);

// The plain twins, for T = float and double.
template <class T>
void cross_entropy_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                  const int64_t* target, T* loss, T* lse);
template <class T>
void cross_entropy_backward_rows_reference(int64_t rows, int64_t classes, const T* logits,
                                           const T* lse, const int64_t* target, T scale,
                                           T* dlogits);

}  // namespace lookback::kernels
