// Choosing elements by a boolean condition. Values and gradients are selected, never multiplied
// by 0 or 1: 0 * infinity is NaN, and a masked position may hold anything.
#include "engine/backward.h"
#include "engine/kernels/binary.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

void check_condition(const char* op, const Tensor& condition) {
  check(condition.dtype() == DType::boolean, op, "the condition must be boolean; got ",
        condition.dtype());
}

// y = condition ? a : b, all three broadcast.
Tensor choose(const char* op, const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Shape shape =
      broadcast_shapes(op, condition.shape(), broadcast_shapes(op, a.shape(), b.shape()));
  const Tensor y = empty(shape, a.dtype());
  visit(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Boolean* from_c = condition.data<Boolean>();
    const T* from_a = a.data<T>();
    const T* from_b = b.data<T>();
    T* to = y.data<T>();
    const auto strides = [&](const Tensor& x) {
      return broadcast_strides(x.shape(), x.strides(), shape);
    };
    loops::for_each_run<4>(shape, {y.strides(), strides(condition), strides(a), strides(b)},
                           [&](const auto& offset, int64_t n, const auto& step) {
                             T* const out = to + offset[0];
                             const Boolean* const c = from_c + offset[1];
                             const T* const p = from_a + offset[2];
                             const T* const q = from_b + offset[3];
                             if constexpr (std::is_floating_point_v<T>) {
                               kernels::select_run(n, c, step[1], p, step[2], q, step[3], out);
                             } else {
                               for (int64_t i = 0; i < n; ++i)
                                 out[i] = c[i * step[1]] ? p[i * step[2]] : q[i * step[3]];
                             }
                           });
  });
  return y;
}

}  // namespace

// y = condition ? a : b;  da = condition ? dy : 0, db = condition ? 0 : dy
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  check_condition("where", condition);
  pointwise::check_same_dtype("where", a, b);
  const Tensor y = choose("where", condition, a, b);
  return record(
      "where", y, {a, b},
      [condition = Saved(condition), shape_a = a.shape(), shape_b = b.shape(),
       needs_a = a.requires_grad(), needs_b = b.requires_grad()](const Tensor& dy) -> Gradients {
        const Tensor nothing = zeros({}, dy.dtype());
        Tensor da;
        Tensor db;
        if (needs_a) da = reduce_to_shape(where(condition, dy, nothing), shape_a);
        if (needs_b) db = reduce_to_shape(where(condition, nothing, dy), shape_b);
        return {da, db};
      });
}

// y = mask ? value : x, broadcast;  dx = mask ? 0 : dy
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_condition("masked_fill", mask);
  const Tensor filler = visit(x.dtype(), [&](auto zero) {
    pointwise::scalar_as<decltype(zero)>("masked_fill", value);
    return full({}, value, x.dtype());
  });
  const Tensor y = choose("masked_fill", mask, filler, x);
  return record("masked_fill", y, {x},
                [mask = Saved(mask), shape = x.shape()](const Tensor& dy) -> Gradients {
                  return {reduce_to_shape(masked_fill(dy, mask, 0.0), shape)};
                });
}

}  // namespace lookback
