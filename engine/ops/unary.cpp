// Functions of one number, element by element. Floating-point tensors only.
#include <cmath>

#include "engine/backward.h"
#include "engine/kernels/gelu.h"
#include "engine/kernels/unary.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

// y = f(x) by a kernel run(n, x, y).
template <class Run>
Tensor apply(const char* op, const Tensor& x, const Run& run) {
  return visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::unary<T, T>(x, run);
  });
}

// dx = f(x or y, dy) by a fused kernel run(n, x, dy, dx): one pass, no intermediate tensors.
template <class Run>
Tensor apply_backward(const Tensor& x, const Tensor& dy, const Run& run) {
  const Tensor saved = x.contiguous();
  const Tensor incoming = dy.contiguous();
  const Tensor dx = empty(x.shape(), x.dtype());
  visit_float("backward", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::parallel_for(x.numel(), loops::kGrain, [&](int64_t begin, int64_t end) {
      run(end - begin, saved.data<T>() + begin, incoming.data<T>() + begin, dx.data<T>() + begin);
    });
  });
  return dx;
}

}  // namespace

// y = e^x;  dx = dy y
Tensor exp(const Tensor& x) {
  const Tensor result = apply("exp", x, [](auto... a) { kernels::exp_run(a...); });
  return record("exp", result, {x},
                [](const Tensor& dy, const Tensor& y) -> Gradients { return {dy * y}; });
}

// y = ln x;  dx = dy / x
Tensor log(const Tensor& x) {
  const Tensor y = apply("log", x, [](auto... a) { kernels::log_run(a...); });
  return record("log", y, {x}, [x = Saved(x)](const Tensor& dy) -> Gradients { return {dy / x}; });
}

// y = sqrt(x);  dx = dy / (2 y)
Tensor sqrt(const Tensor& x) {
  const Tensor result = apply("sqrt", x, [](auto... a) { kernels::sqrt_run(a...); });
  return record("sqrt", result, {x},
                [](const Tensor& dy, const Tensor& y) -> Gradients { return {dy / (y * 2.0)}; });
}

// y = tanh(x);  dx = dy (1 - y^2)
Tensor tanh(const Tensor& x) {
  const Tensor result = apply("tanh", x, [](auto... a) { kernels::tanh_run(a...); });
  return record("tanh", result, {x}, [](const Tensor& dy, const Tensor& y) -> Gradients {
    if (grad_enabled()) return {dy * (1.0 - y * y)};
    return {apply_backward(y, dy, [](auto... a) { kernels::tanh_backward_run(a...); })};
  });
}

// y = 1 / (1 + e^-x);  dx = dy y (1 - y)
Tensor sigmoid(const Tensor& x) {
  const Tensor result = apply("sigmoid", x, [](auto... a) { kernels::sigmoid_run(a...); });
  return record("sigmoid", result, {x}, [](const Tensor& dy, const Tensor& y) -> Gradients {
    if (grad_enabled()) return {dy * (y * (1.0 - y))};
    return {apply_backward(y, dy, [](auto... a) { kernels::sigmoid_backward_run(a...); })};
  });
}

// y = max(x, 0);  dx = dy where x > 0, else 0 (selected: 0 * infinity must not appear)
Tensor relu(const Tensor& x) {
  const Tensor y = apply("relu", x, [](auto... a) { kernels::relu_run(a...); });
  return record("relu", y, {x}, [x = Saved(x)](const Tensor& dy) -> Gradients {
    return {where(x.get() > 0.0, dy, zeros({}, dy.dtype()))};
  });
}

namespace {

// phi(x) = exp(-x^2 / 2) / sqrt(2 pi), the density of Normal(0, 1)
Tensor normal_density(const Tensor& x) {
  constexpr double kInverseSqrt2Pi = 0.39894228040143267794;
  return exp(x * x * -0.5) * kInverseSqrt2Pi;
}

// y = Phi(x), the distribution function of Normal(0, 1);  dx = dy phi(x)
Tensor normal_cdf(const Tensor& x) {
  const Tensor y = apply("normal_cdf", x, [](int64_t n, const auto* from, auto* to) {
    using T = std::remove_reference_t<decltype(*to)>;
    for (int64_t i = 0; i < n; ++i) {
      to[i] = T{0.5} * std::erfc(from[i] * static_cast<T>(-0.70710678118654752440));
    }
  });
  return record("normal_cdf", y, {x},
                [x = Saved(x)](const Tensor& dy) -> Gradients { return {dy * normal_density(x)}; });
}

}  // namespace

// y = x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016, eq. 1);
// dx = dy (Phi(x) + x phi(x)), phi its density
Tensor gelu(const Tensor& x) {
  const Tensor y = apply("gelu", x, [](auto... a) { kernels::gelu_run(a...); });
  return record("gelu", y, {x}, [x = Saved(x)](const Tensor& dy) -> Gradients {
    if (!grad_enabled()) {
      return {apply_backward(x, dy, [](auto... a) { kernels::gelu_backward_run(a...); })};
    }
    return {dy * (normal_cdf(x) + x.get() * normal_density(x))};
  });
}

// y = |x|;  dx = dy sign(x), 0 at 0
Tensor abs(const Tensor& x) {
  const Tensor y = apply("abs", x, [](auto... a) { kernels::abs_run(a...); });
  return record("abs", y, {x}, [x = Saved(x)](const Tensor& dy) -> Gradients {
    const Tensor nothing = zeros({}, dy.dtype());
    return {where(x.get() > 0.0, dy, where(x.get() < 0.0, neg(dy), nothing))};
  });
}

}  // namespace lookback
