// AdamW, vectorised:
//
//   for i in n, one vector at a time, the last one masked: the four lines of adamw.h
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/adamw.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include "engine/kernels/adamw.h"
#include "engine/kernels/adamw_factors.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
void Adamw(int64_t n, T* p, const T* g, T* m, T* v, const AdamwFactors<T>& factors) {
  const Tag<T> d;
  const auto keep = hn::Set(d, factors.keep);
  const auto keep_m = hn::Set(d, factors.keep_m);
  const auto take_m = hn::Set(d, factors.take_m);
  const auto keep_v = hn::Set(d, factors.keep_v);
  const auto take_v = hn::Set(d, factors.take_v);
  const auto step = hn::Set(d, factors.step);
  const auto root = hn::Set(d, factors.root);
  const auto eps = hn::Set(d, factors.eps);
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const auto grad = at.Load(g);
    const auto mean = hn::Add(hn::Mul(keep_m, at.Load(m)), hn::Mul(take_m, grad));
    const auto square = hn::Mul(grad, grad);
    const auto spread = hn::Add(hn::Mul(keep_v, at.Load(v)), hn::Mul(take_v, square));
    const auto size = hn::Add(hn::Div(hn::Sqrt(spread), root), eps);
    const auto change = hn::Mul(step, hn::Div(mean, size));
    at.Store(mean, m);
    at.Store(spread, v);
    at.Store(hn::Sub(hn::Mul(keep, at.Load(p)), change), p);
  });
}

void AdamwF32(int64_t n, float* p, const float* g, float* m, float* v,
              const AdamwFactors<float>& factors) {
  Adamw(n, p, g, m, v, factors);
}

void AdamwF64(int64_t n, double* p, const double* g, double* m, double* v,
              const AdamwFactors<double>& factors) {
  Adamw(n, p, g, m, v, factors);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

constexpr int64_t kGrain = 16384;

HWY_EXPORT(AdamwF32);
HWY_EXPORT(AdamwF64);

template <class T, class Function>
void step(int64_t n, T* p, const T* g, T* m, T* v, const AdamwFactors<T>& factors, Function f) {
  parallel_for(n, kGrain, [=, &factors](int64_t i, int64_t end) {
    f(end - i, p + i, g + i, m + i, v + i, factors);
  });
}

}  // namespace

void adamw_step(int64_t n, float* p, const float* g, float* m, float* v, double lr, double beta1,
                double beta2, double eps, double weight_decay, double bias_correction1,
                double bias_correction2) {
  step(
      n, p, g, m, v,
      adamw_factors<float>(lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2),
      HWY_DYNAMIC_DISPATCH(AdamwF32));
}

void adamw_step(int64_t n, double* p, const double* g, double* m, double* v, double lr,
                double beta1, double beta2, double eps, double weight_decay,
                double bias_correction1, double bias_correction2) {
  step(n, p, g, m, v,
       adamw_factors<double>(lr, beta1, beta2, eps, weight_decay, bias_correction1,
                             bias_correction2),
       HWY_DYNAMIC_DISPATCH(AdamwF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
