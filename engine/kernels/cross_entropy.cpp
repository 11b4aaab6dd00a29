// Cross-entropy, vectorised:
//
//   for each row
//     largest = max of logits[k]
//     log_sum = log(sum of exp(logits[k] - largest)), in the fixed order of lane_sum.h
//     loss = log_sum + (largest - logits[target])
//
//   backward, for each row: dlogits[k] = scale exp((logits[k] - largest) - log_sum), then the
//   target's own value
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include <algorithm>
#include <limits>

#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_math-inl.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
void CrossEntropy(int64_t rows, int64_t classes, const T* logits, const int64_t* target, T* loss,
                  T* largest, T* log_sum) {
  const Tag<T> d;
  for (int64_t r = 0; r < rows; ++r, logits += classes) {
    const T max = LaneFold<T, 2 * kLanes<T>>(classes, -std::numeric_limits<T>::infinity(), MaxOp(),
                                             [=](auto at) HWY_ATTR { return at.Load(logits); });
    const auto shift = hn::Set(d, max);
    const T sum = LaneSum<T>(classes, [=](auto at) HWY_ATTR {
      return ExpOfNonPositive(d, hn::Sub(at.Load(logits), shift));
    });
    largest[r] = max;
    log_sum[r] = hn::GetLane(Log(d, hn::Set(d, sum)));
    loss[r] = log_sum[r] + (max - logits[target[r]]);
  }
}

template <class T>
void CrossEntropyBackward(int64_t rows, int64_t classes, const T* logits, const T* largest,
                          const T* log_sum, const int64_t* target, T scale, T* dlogits) {
  const Tag<T> d;
  const auto factor = hn::Set(d, scale);
  for (int64_t r = 0; r < rows; ++r, logits += classes, dlogits += classes) {
    const auto shift = hn::Set(d, largest[r]);
    const auto normaliser = hn::Set(d, log_sum[r]);
    const auto weight = [=](auto logit)
                            HWY_ATTR { return Exp(d, hn::Sub(hn::Sub(logit, shift), normaliser)); };
    const T target_weight = hn::GetLane(weight(hn::Set(d, logits[target[r]])));
    EachVector<T>(classes, [=](auto at) HWY_ATTR {
      at.Store(hn::Mul(factor, weight(at.Load(logits))), dlogits);
    });
    dlogits[target[r]] = scale * (target_weight - T{1});
  }
}

void CrossEntropyF32(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                     float* loss, float* largest, float* log_sum) {
  CrossEntropy(rows, classes, logits, target, loss, largest, log_sum);
}

void CrossEntropyF64(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                     double* loss, double* largest, double* log_sum) {
  CrossEntropy(rows, classes, logits, target, loss, largest, log_sum);
}

void CrossEntropyBackwardF32(int64_t rows, int64_t classes, const float* logits,
                             const float* largest, const float* log_sum, const int64_t* target,
                             float scale, float* dlogits) {
  CrossEntropyBackward(rows, classes, logits, largest, log_sum, target, scale, dlogits);
}

void CrossEntropyBackwardF64(int64_t rows, int64_t classes, const double* logits,
                             const double* largest, const double* log_sum, const int64_t* target,
                             double scale, double* dlogits) {
  CrossEntropyBackward(rows, classes, logits, largest, log_sum, target, scale, dlogits);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

// Rows worth a thread: about 16384 elements.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n)); }

HWY_EXPORT(CrossEntropyF32);
HWY_EXPORT(CrossEntropyF64);
HWY_EXPORT(CrossEntropyBackwardF32);
HWY_EXPORT(CrossEntropyBackwardF64);

template <class T, class Function>
void forward(int64_t rows, int64_t classes, const T* logits, const int64_t* target, T* loss,
             T* largest, T* log_sum, Function f) {
  parallel_for(rows, grain(classes), [=](int64_t r, int64_t end) {
    f(end - r, classes, logits + r * classes, target + r, loss + r, largest + r, log_sum + r);
  });
}

template <class T, class Function>
void backward(int64_t rows, int64_t classes, const T* logits, const T* largest, const T* log_sum,
              const int64_t* target, T scale, T* dlogits, Function f) {
  parallel_for(rows, grain(classes), [=](int64_t r, int64_t end) {
    f(end - r, classes, logits + r * classes, largest + r, log_sum + r, target + r, scale,
      dlogits + r * classes);
  });
}

}  // namespace

void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* largest, float* log_sum) {
  forward(rows, classes, logits, target, loss, largest, log_sum,
          HWY_DYNAMIC_DISPATCH(CrossEntropyF32));
}

void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* largest, double* log_sum) {
  forward(rows, classes, logits, target, loss, largest, log_sum,
          HWY_DYNAMIC_DISPATCH(CrossEntropyF64));
}

void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* largest, const float* log_sum, const int64_t* target,
                                 float scale, float* dlogits) {
  backward(rows, classes, logits, largest, log_sum, target, scale, dlogits,
           HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF32));
}

void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* largest, const double* log_sum,
                                 const int64_t* target, double scale, double* dlogits) {
  backward(rows, classes, logits, largest, log_sum, target, scale, dlogits,
           HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
