// Arithmetic of two tensors, or of a tensor and a number, element by element.
#include <cmath>

#include "engine/backward.h"
#include "engine/kernels/binary.h"
#include "engine/kernels/unary.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

// Floats take the kernel, integers a plain loop; both follow the contract of pointwise::binary.
template <class Kernel, class Plain>
auto run_of(Kernel kernel, Plain plain) {
  return [kernel, plain](int64_t n, const auto* a, int64_t a_step, const auto* b, int64_t b_step,
                         auto* y) {
    if constexpr (std::is_floating_point_v<std::remove_reference_t<decltype(*y)>>) {
      kernel(n, a, a_step, b, b_step, y);
    } else {
      pointwise::each(plain)(n, a, a_step, b, b_step, y);
    }
  };
}

constexpr auto kAdd = [](auto... arguments) { kernels::add_run(arguments...); };
constexpr auto kSub = [](auto... arguments) { kernels::sub_run(arguments...); };
constexpr auto kMul = [](auto... arguments) { kernels::mul_run(arguments...); };
constexpr auto kDiv = [](auto... arguments) { kernels::div_run(arguments...); };

// y = f(a, b) for two tensors of the same dtype.
template <class Run>
Tensor of_tensors(const char* op, const Tensor& a, const Tensor& b, const Run& run) {
  pointwise::check_same_dtype(op, a, b);
  return visit_number(op, a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::binary<T, T, T>(op, a, b, run);
  });
}

// y = f(x, s) for a tensor and a number.
template <class Run>
Tensor of_scalar(const char* op, const Tensor& x, double s, const Run& run) {
  return visit_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::with_scalar<T, T>(x, pointwise::scalar_as<T>(op, s), run);
  });
}

// maximum and minimum: dy goes to the chosen side; on a tie each side gets half.
Gradients choose_gradients(const Tensor& a, const Tensor& b, const Tensor& y, const Tensor& dy) {
  const Tensor half = dy * 0.5;
  const Tensor nothing = zeros({}, dy.dtype());
  const Tensor tie = eq(a, b);
  const auto share = [&](const Tensor& x) {
    return reduce_to_shape(where(tie, half, where(eq(x, y), dy, nothing)), x.shape());
  };
  return {share(a), share(b)};
}

}  // namespace

// y = a + b;  da = dy, db = dy
Tensor add(const Tensor& a, const Tensor& b) {
  const Tensor y = of_tensors("add", a, b, run_of(kAdd, [](auto p, auto q) { return p + q; }));
  return record("add", y, {a, b},
                [shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) -> Gradients {
                  return {reduce_to_shape(dy, shape_a), reduce_to_shape(dy, shape_b)};
                });
}

// y = a + s;  da = dy
Tensor add(const Tensor& a, double s) {
  const Tensor y = of_scalar("add", a, s, run_of(kAdd, [](auto p, auto q) { return p + q; }));
  return record("add", y, {a}, [](const Tensor& dy) -> Gradients { return {dy}; });
}

// y = a - b;  da = dy, db = -dy
Tensor sub(const Tensor& a, const Tensor& b) {
  const Tensor y = of_tensors("sub", a, b, run_of(kSub, [](auto p, auto q) { return p - q; }));
  return record("sub", y, {a, b},
                [shape_a = a.shape(), shape_b = b.shape()](const Tensor& dy) -> Gradients {
                  return {reduce_to_shape(dy, shape_a), reduce_to_shape(neg(dy), shape_b)};
                });
}

// y = a b;  da = dy b, db = dy a
Tensor mul(const Tensor& a, const Tensor& b) {
  const Tensor y = of_tensors("mul", a, b, run_of(kMul, [](auto p, auto q) { return p * q; }));
  return record("mul", y, {a, b}, [a = Saved(a), b = Saved(b)](const Tensor& dy) -> Gradients {
    const Tensor da = a.requires_grad() ? reduce_to_shape(dy * b, a.get().shape()) : Tensor();
    const Tensor db = b.requires_grad() ? reduce_to_shape(dy * a, b.get().shape()) : Tensor();
    return {da, db};
  });
}

// y = a s;  da = dy s
Tensor mul(const Tensor& a, double s) {
  const Tensor y = of_scalar("mul", a, s, run_of(kMul, [](auto p, auto q) { return p * q; }));
  return record("mul", y, {a}, [s](const Tensor& dy) -> Gradients { return {dy * s}; });
}

// y = a / b;  da = dy / b, db = -dy y / b
Tensor div(const Tensor& a, const Tensor& b) {
  check(is_floating(a.dtype()), "div", "needs f32 or f64; got ", a.dtype());
  const Tensor result = of_tensors("div", a, b, run_of(kDiv, [](auto p, auto q) { return p / q; }));
  return record("div", result, {a, b},
                [shape_a = a.shape(), needs_b = b.requires_grad(), b = Saved(b)](
                    const Tensor& dy, const Tensor& y) -> Gradients {
                  const Tensor da = dy / b;
                  const Tensor db =
                      needs_b ? reduce_to_shape(neg(da * y), b.get().shape()) : Tensor();
                  return {reduce_to_shape(da, shape_a), db};
                });
}

// y = -x;  dx = -dy
Tensor neg(const Tensor& x) {
  const Tensor y = visit_number("neg", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::unary<T, T>(x, [](int64_t n, const T* from, T* to) {
      if constexpr (std::is_floating_point_v<T>) {
        kernels::neg_run(n, from, to);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i] = -from[i];
      }
    });
  });
  return record("neg", y, {x}, [](const Tensor& dy) -> Gradients { return {neg(dy)}; });
}

// y = x^p;  dx = dy p x^(p-1)
Tensor pow(const Tensor& x, double p) {
  const Tensor y = visit_float("pow", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::with_scalar<T, T>(x, static_cast<T>(p), pointwise::each([](T base, T power) {
                                          return std::pow(base, power);
                                        }));
  });
  return record("pow", y, {x}, [x = Saved(x), p](const Tensor& dy) -> Gradients {
    if (p == 0) return {dy * 0.0};  // also where x = 0, where p x^(p-1) would be 0 * infinity
    return {dy * (pow(x, p - 1) * p)};
  });
}

// y = x^p;  dx = dy p x^(p-1), dp = dy y log(x)
Tensor pow(const Tensor& x, const Tensor& p) {
  visit_float("pow", x.dtype(), [](auto) {});
  const Tensor result = of_tensors(
      "pow", x, p, pointwise::each([](auto base, auto power) { return std::pow(base, power); }));
  return record(
      "pow", result, {x, p},
      [x = Saved(x), p = Saved(p)](const Tensor& dy, const Tensor& y) -> Gradients {
        const Tensor nothing = zeros({}, dy.dtype());
        Tensor dx;
        Tensor dp;
        if (x.requires_grad()) {
          const Tensor slope = p.get() * pow(x, p.get() - 1.0);
          dx = reduce_to_shape(where(p.get() == 0.0, nothing, dy * slope), x.get().shape());
        }
        if (p.requires_grad()) {
          dp = reduce_to_shape(where(x.get() == 0.0, nothing, dy * (y * log(x))), p.get().shape());
        }
        return {dx, dp};
      });
}

// y = max(a, b);  dy goes to the larger, half to each on a tie
Tensor maximum(const Tensor& a, const Tensor& b) {
  const Tensor result =
      of_tensors("maximum", a, b,
                 run_of([](auto... arguments) { kernels::maximum_run(arguments...); },
                        [](auto p, auto q) { return p > q ? p : q; }));
  return record("maximum", result, {a, b},
                [a = Saved(a), b = Saved(b)](const Tensor& dy, const Tensor& y) -> Gradients {
                  return choose_gradients(a, b, y, dy);
                });
}

// y = min(a, b);  dy goes to the smaller, half to each on a tie
Tensor minimum(const Tensor& a, const Tensor& b) {
  const Tensor result =
      of_tensors("minimum", a, b,
                 run_of([](auto... arguments) { kernels::minimum_run(arguments...); },
                        [](auto p, auto q) { return p < q ? p : q; }));
  return record("minimum", result, {a, b},
                [a = Saved(a), b = Saved(b)](const Tensor& dy, const Tensor& y) -> Gradients {
                  return choose_gradients(a, b, y, dy);
                });
}

}  // namespace lookback
