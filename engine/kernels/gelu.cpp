// GELU, vectorised:
//
//   for i in n, one vector at a time, the last one masked
//     t = |x[i]|, bell = exp(-t^2 / 2), tail = Phi(-t) = bell P(t) / Q(t)
//     y[i] = max(x[i], 0) - t tail, which is x Phi(x) for both signs
//   backward: dx[i] = dy[i] (Phi(x) + x bell / sqrt(2 pi)), from the same three
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gelu.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include "engine/kernels/gelu.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_math-inl.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
void Gelu(int64_t n, const T* x, T* y) {
  const Tag<T> d;
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const auto value = at.Load(x);
    const auto law = Normal(d, value);
    const auto positive = hn::IfThenZeroElse(hn::Lt(value, hn::Zero(d)), value);
    at.Store(hn::NegMulAdd(law.t, law.tail, positive), y);
  });
}

template <class T>
void GeluBackward(int64_t n, const T* x, const T* dy, T* dx) {
  constexpr T inv_sqrt_2pi = static_cast<T>(0.39894228040143267794);
  const Tag<T> d;
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const auto value = at.Load(x);
    const auto law = Normal(d, value);
    const auto density = hn::Mul(law.bell, hn::Set(d, inv_sqrt_2pi));
    // With g = t density - tail the slope is -g for negative x and 1 + g for the others.
    const auto g = hn::MulSub(law.t, density, law.tail);
    const auto right = hn::Add(hn::Set(d, T{1}), g);
    const auto slope = hn::IfThenElse(hn::Lt(value, hn::Zero(d)), hn::Neg(g), right);
    at.Store(hn::Mul(at.Load(dy), slope), dx);
  });
}

void GeluF32(int64_t n, const float* x, float* y) { Gelu(n, x, y); }
void GeluF64(int64_t n, const double* x, double* y) { Gelu(n, x, y); }
void GeluBackwardF32(int64_t n, const float* x, const float* dy, float* dx) {
  GeluBackward(n, x, dy, dx);
}
void GeluBackwardF64(int64_t n, const double* x, const double* dy, double* dx) {
  GeluBackward(n, x, dy, dx);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

constexpr int64_t kGrain = 16384;

HWY_EXPORT(GeluF32);
HWY_EXPORT(GeluF64);
HWY_EXPORT(GeluBackwardF32);
HWY_EXPORT(GeluBackwardF64);

template <class T, class Function>
void forward(int64_t n, const T* x, T* y, Function f) {
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) { f(end - i, x + i, y + i); });
}

template <class T, class Function>
void backward(int64_t n, const T* x, const T* dy, T* dx, Function f) {
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) { f(end - i, x + i, dy + i, dx + i); });
}

}  // namespace

void gelu_run(int64_t n, const float* x, float* y) {
  forward(n, x, y, HWY_DYNAMIC_DISPATCH(GeluF32));
}

void gelu_run(int64_t n, const double* x, double* y) {
  forward(n, x, y, HWY_DYNAMIC_DISPATCH(GeluF64));
}

void gelu_backward_run(int64_t n, const float* x, const float* dy, float* dx) {
  backward(n, x, dy, dx, HWY_DYNAMIC_DISPATCH(GeluBackwardF32));
}

void gelu_backward_run(int64_t n, const double* x, const double* dy, double* dx) {
  backward(n, x, dy, dx, HWY_DYNAMIC_DISPATCH(GeluBackwardF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
