// GELU, vectorised:
//
//   for i in n, one vector at a time, the last one masked
//     bell = exp(-x^2 / 2), Phi = the tail bell P(|x|) / Q(|x|), or 1 less it
//     y[i] = x[i] Phi     and backward: dx[i] = dy[i] (Phi + x[i] bell / sqrt(2 pi))
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
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const auto value = at.Load(x);
    at.Store(hn::Mul(value, Normal(Tag<T>(), value).distribution), y);
  });
}

template <class T>
void GeluBackward(int64_t n, const T* x, const T* dy, T* dx) {
  constexpr T inv_sqrt_2pi = static_cast<T>(0.39894228040143267794);
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const Tag<T> d;
    const auto value = at.Load(x);
    const auto law = Normal(d, value);
    const auto density = hn::Mul(law.bell, hn::Set(d, inv_sqrt_2pi));
    const auto slope = hn::MulAdd(value, density, law.distribution);
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
