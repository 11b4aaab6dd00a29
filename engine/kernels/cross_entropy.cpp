// Cross-entropy, vectorised:
//
//   for each row
//     largest = max of logits[k]
//     log_sum = log(sum of exp(logits[k] - largest)), in the fixed order of lane_sum.h
//     loss = log_sum + (largest - logits[target])
//
//   backward, for each row: dlogits[k] = scale exp(logits[k] - lse), then the target's own value
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
                  T* lse) {
  const Tag<T> d;
  for (int64_t r = 0; r < rows; ++r, logits += classes) {
    const T largest =
        LaneFold<T, 2 * kLanes<T>>(classes, -std::numeric_limits<T>::infinity(), MaxOp(),
                                   [=](auto at) HWY_ATTR { return at.Load(logits); });
    const auto shift = hn::Set(d, largest);
    const T sum = LaneSum<T>(classes, [=](auto at) HWY_ATTR {
      return ExpOfNonPositive(d, hn::Sub(at.Load(logits), shift));
    });
    const T log_sum = hn::GetLane(Log(d, hn::Set(d, sum)));
    loss[r] = log_sum + (largest - logits[target[r]]);
    lse[r] = log_sum + largest;
  }
}

template <class T>
void CrossEntropyBackward(int64_t rows, int64_t classes, const T* logits, const T* lse,
                          const int64_t* target, T scale, T* dlogits) {
  const Tag<T> d;
  const auto factor = hn::Set(d, scale);
  for (int64_t r = 0; r < rows; ++r, logits += classes, dlogits += classes) {
    const auto shift = hn::Set(d, lse[r]);
    const auto target_logit = hn::Set(d, logits[target[r]]);
    const T target_weight = hn::GetLane(Exp(d, hn::Sub(target_logit, shift)));
    EachVector<T>(classes, [=](auto at) HWY_ATTR {
      at.Store(hn::Mul(factor, Exp(d, hn::Sub(at.Load(logits), shift))), dlogits);
    });
    dlogits[target[r]] = scale * (target_weight - T{1});
  }
}

void CrossEntropyF32(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                     float* loss, float* lse) {
  CrossEntropy(rows, classes, logits, target, loss, lse);
}

void CrossEntropyF64(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                     double* loss, double* lse) {
  CrossEntropy(rows, classes, logits, target, loss, lse);
}

void CrossEntropyBackwardF32(int64_t rows, int64_t classes, const float* logits, const float* lse,
                             const int64_t* target, float scale, float* dlogits) {
  CrossEntropyBackward(rows, classes, logits, lse, target, scale, dlogits);
}

void CrossEntropyBackwardF64(int64_t rows, int64_t classes, const double* logits, const double* lse,
                             const int64_t* target, double scale, double* dlogits) {
  CrossEntropyBackward(rows, classes, logits, lse, target, scale, dlogits);
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
void forward(int64_t rows, int64_t classes, const T* logits, const int64_t* target, T* loss, T* lse,
             Function f) {
  parallel_for(rows, grain(classes), [=](int64_t r, int64_t end) {
    f(end - r, classes, logits + r * classes, target + r, loss + r, lse + r);
  });
}

template <class T, class Function>
void backward(int64_t rows, int64_t classes, const T* logits, const T* lse, const int64_t* target,
              T scale, T* dlogits, Function f) {
  parallel_for(rows, grain(classes), [=](int64_t r, int64_t end) {
    f(end - r, classes, logits + r * classes, lse + r, target + r, scale, dlogits + r * classes);
  });
}

}  // namespace

void cross_entropy_rows(int64_t rows, int64_t classes, const float* logits, const int64_t* target,
                        float* loss, float* lse) {
  forward(rows, classes, logits, target, loss, lse, HWY_DYNAMIC_DISPATCH(CrossEntropyF32));
}

void cross_entropy_rows(int64_t rows, int64_t classes, const double* logits, const int64_t* target,
                        double* loss, double* lse) {
  forward(rows, classes, logits, target, loss, lse, HWY_DYNAMIC_DISPATCH(CrossEntropyF64));
}

void cross_entropy_backward_rows(int64_t rows, int64_t classes, const float* logits,
                                 const float* lse, const int64_t* target, float scale,
                                 float* dlogits) {
  backward(rows, classes, logits, lse, target, scale, dlogits,
           HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF32));
}

void cross_entropy_backward_rows(int64_t rows, int64_t classes, const double* logits,
                                 const double* lse, const int64_t* target, double scale,
                                 double* dlogits) {
  backward(rows, classes, logits, lse, target, scale, dlogits,
           HWY_DYNAMIC_DISPATCH(CrossEntropyBackwardF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
