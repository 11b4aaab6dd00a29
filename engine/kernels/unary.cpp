// Functions of one element, vectorised:
//
//   for i in n, one vector at a time, the last one masked
//     y[i] = f(x[i])
//
// Long runs are cut into fixed chunks for the threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/unary.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include "engine/kernels/threads.h"
#include "engine/kernels/unary.h"
#include "engine/kernels/vector_math-inl.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T, class Function>
HWY_INLINE void Map(int64_t n, const T* x, T* y, Function f) {
  EachVector<T>(n, [=](auto at) HWY_ATTR { at.Store(f(Tag<T>(), at.Load(x)), y); });
}

template <class T, class Function>
HWY_INLINE void Map(int64_t n, const T* x, const T* dy, T* dx, Function f) {
  EachVector<T>(n, [=](auto at) HWY_ATTR { at.Store(f(Tag<T>(), at.Load(x), at.Load(dy)), dx); });
}

constexpr auto kExp = [](auto d, auto x) HWY_ATTR { return Exp(d, x); };
constexpr auto kLog = [](auto d, auto x) HWY_ATTR { return Log(d, x); };
constexpr auto kSqrt = [](auto, auto x) HWY_ATTR { return hn::Sqrt(x); };
constexpr auto kTanh = [](auto d, auto x) HWY_ATTR { return Tanh(d, x); };
constexpr auto kSigmoid = [](auto d, auto x) HWY_ATTR { return Sigmoid(d, x); };
constexpr auto kRelu = [](auto d, auto x)
                           HWY_ATTR { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x); };
constexpr auto kNeg = [](auto, auto x) HWY_ATTR { return hn::Neg(x); };
constexpr auto kAbs = [](auto, auto x) HWY_ATTR { return hn::Abs(x); };
constexpr auto kReluBackward = [](auto d, auto x, auto dy) HWY_ATTR {
  return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), dy);
};
constexpr auto kTanhBackward = [](auto d, auto y, auto dy) HWY_ATTR {
  return hn::Mul(dy, hn::Sub(hn::Set(d, hn::TFromD<decltype(d)>{1}), hn::Mul(y, y)));
};
constexpr auto kSigmoidBackward = [](auto d, auto y, auto dy) HWY_ATTR {
  return hn::Mul(dy, hn::Mul(y, hn::Sub(hn::Set(d, hn::TFromD<decltype(d)>{1}), y)));
};

void ExpF32(int64_t n, const float* x, float* y) { Map(n, x, y, kExp); }
void ExpF64(int64_t n, const double* x, double* y) { Map(n, x, y, kExp); }
void LogF32(int64_t n, const float* x, float* y) { Map(n, x, y, kLog); }
void LogF64(int64_t n, const double* x, double* y) { Map(n, x, y, kLog); }
void SqrtF32(int64_t n, const float* x, float* y) { Map(n, x, y, kSqrt); }
void SqrtF64(int64_t n, const double* x, double* y) { Map(n, x, y, kSqrt); }
void TanhF32(int64_t n, const float* x, float* y) { Map(n, x, y, kTanh); }
void TanhF64(int64_t n, const double* x, double* y) { Map(n, x, y, kTanh); }
void SigmoidF32(int64_t n, const float* x, float* y) { Map(n, x, y, kSigmoid); }
void SigmoidF64(int64_t n, const double* x, double* y) { Map(n, x, y, kSigmoid); }
void ReluF32(int64_t n, const float* x, float* y) { Map(n, x, y, kRelu); }
void ReluF64(int64_t n, const double* x, double* y) { Map(n, x, y, kRelu); }
void NegF32(int64_t n, const float* x, float* y) { Map(n, x, y, kNeg); }
void NegF64(int64_t n, const double* x, double* y) { Map(n, x, y, kNeg); }
void AbsF32(int64_t n, const float* x, float* y) { Map(n, x, y, kAbs); }
void AbsF64(int64_t n, const double* x, double* y) { Map(n, x, y, kAbs); }
void ReluBackwardF32(int64_t n, const float* x, const float* dy, float* dx) {
  Map(n, x, dy, dx, kReluBackward);
}
void ReluBackwardF64(int64_t n, const double* x, const double* dy, double* dx) {
  Map(n, x, dy, dx, kReluBackward);
}
void TanhBackwardF32(int64_t n, const float* y, const float* dy, float* dx) {
  Map(n, y, dy, dx, kTanhBackward);
}
void TanhBackwardF64(int64_t n, const double* y, const double* dy, double* dx) {
  Map(n, y, dy, dx, kTanhBackward);
}
void SigmoidBackwardF32(int64_t n, const float* y, const float* dy, float* dx) {
  Map(n, y, dy, dx, kSigmoidBackward);
}
void SigmoidBackwardF64(int64_t n, const double* y, const double* dy, double* dx) {
  Map(n, y, dy, dx, kSigmoidBackward);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

constexpr int64_t kGrain = 32768;

template <class T>
void in_chunks(int64_t n, void (*f)(int64_t, const T*, T*), const T* x, T* y) {
  if (n <= kGrain) return f(n, x, y);
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) { f(end - i, x + i, y + i); });
}

template <class T>
void in_chunks(int64_t n, void (*f)(int64_t, const T*, const T*, T*), const T* x, const T* dy,
               T* dx) {
  if (n <= kGrain) return f(n, x, dy, dx);
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) { f(end - i, x + i, dy + i, dx + i); });
}

HWY_EXPORT(ExpF32);
HWY_EXPORT(ExpF64);
HWY_EXPORT(LogF32);
HWY_EXPORT(LogF64);
HWY_EXPORT(SqrtF32);
HWY_EXPORT(SqrtF64);
HWY_EXPORT(TanhF32);
HWY_EXPORT(TanhF64);
HWY_EXPORT(SigmoidF32);
HWY_EXPORT(SigmoidF64);
HWY_EXPORT(ReluF32);
HWY_EXPORT(ReluF64);
HWY_EXPORT(NegF32);
HWY_EXPORT(NegF64);
HWY_EXPORT(AbsF32);
HWY_EXPORT(AbsF64);
HWY_EXPORT(ReluBackwardF32);
HWY_EXPORT(ReluBackwardF64);
HWY_EXPORT(TanhBackwardF32);
HWY_EXPORT(TanhBackwardF64);
HWY_EXPORT(SigmoidBackwardF32);
HWY_EXPORT(SigmoidBackwardF64);

}  // namespace

void exp_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ExpF32), x, y);
}
void exp_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ExpF64), x, y);
}
void log_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(LogF32), x, y);
}
void log_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(LogF64), x, y);
}
void sqrt_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SqrtF32), x, y);
}
void sqrt_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SqrtF64), x, y);
}
void tanh_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(TanhF32), x, y);
}
void tanh_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(TanhF64), x, y);
}
void sigmoid_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SigmoidF32), x, y);
}
void sigmoid_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SigmoidF64), x, y);
}
void relu_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ReluF32), x, y);
}
void relu_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ReluF64), x, y);
}
void neg_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(NegF32), x, y);
}
void neg_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(NegF64), x, y);
}
void abs_run(int64_t n, const float* x, float* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(AbsF32), x, y);
}
void abs_run(int64_t n, const double* x, double* y) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(AbsF64), x, y);
}
void relu_backward_run(int64_t n, const float* x, const float* dy, float* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ReluBackwardF32), x, dy, dx);
}
void relu_backward_run(int64_t n, const double* x, const double* dy, double* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(ReluBackwardF64), x, dy, dx);
}
void tanh_backward_run(int64_t n, const float* y, const float* dy, float* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(TanhBackwardF32), y, dy, dx);
}
void tanh_backward_run(int64_t n, const double* y, const double* dy, double* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(TanhBackwardF64), y, dy, dx);
}
void sigmoid_backward_run(int64_t n, const float* y, const float* dy, float* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SigmoidBackwardF32), y, dy, dx);
}
void sigmoid_backward_run(int64_t n, const double* y, const double* dy, double* dx) {
  in_chunks(n, HWY_DYNAMIC_DISPATCH(SigmoidBackwardF64), y, dy, dx);
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
