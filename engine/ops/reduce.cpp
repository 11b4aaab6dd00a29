// Reductions: sums, extremes and their positions, over any choice of dimensions.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/kernels/reduce.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

// Which dimensions go, and the shapes of the result with them (as sizes 1) and without.
struct Plan {
  Dims order;         // kept dimensions, then reduced ones
  int64_t rows = 1;   // elements of the result
  int64_t count = 1;  // elements reduced into each
  Shape keep_shape;
  Shape drop_shape;
};

Plan plan_reduction(const char* op, const Tensor& x, const Dims& dims) {
  Shape reduced = Shape::filled(x.dim(), dims.empty() ? 1 : 0);
  for (const int64_t dim : dims) {
    const int64_t d = resolve_dim(op, dim, x.dim());
    check(reduced[d]++ == 0, op, "dimensions must be distinct; got ", dims);
  }
  Plan plan;
  for (int64_t d = 0; d < x.dim(); ++d) {
    plan.keep_shape.push_back(reduced[d] ? 1 : x.size(d));
    if (reduced[d]) {
      plan.count *= x.size(d);
      continue;
    }
    plan.order.push_back(d);
    plan.drop_shape.push_back(x.size(d));
    plan.rows *= x.size(d);
  }
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (reduced[d]) plan.order.push_back(d);
  }
  return plan;
}

// x as a contiguous (rows, count) matrix.
Tensor as_rows(const Tensor& x, const Plan& plan) {
  return permute(x.detach(), plan.order).contiguous();
}

// True if the reduced dimensions come first in a contiguous x: a (count, rows) matrix.
bool is_columns(const Tensor& x, const Plan& plan) {
  if (!x.is_contiguous() || plan.rows == 1) return false;
  for (int64_t d = 0; d < plan.drop_shape.rank(); ++d) {
    if (plan.order[d] != d + x.dim() - plan.drop_shape.rank()) return false;
  }
  return true;
}

template <class T>
void sum_into(const Tensor& x, const Plan& plan, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (is_columns(x, plan)) {
      kernels::sum_columns(plan.count, plan.rows, x.data<T>(), plan.rows, y);
      return;
    }
  }
  const Tensor rows = as_rows(x, plan);
  const T* from = rows.data<T>();
  if constexpr (std::is_floating_point_v<T>) {
    kernels::sum_rows(plan.rows, plan.count, from, plan.count, y);
  } else {
    for (int64_t r = 0; r < plan.rows; ++r) {
      y[r] = 0;
      for (int64_t i = 0; i < plan.count; ++i) y[r] += from[r * plan.count + i];
    }
  }
}

// y = extreme of each row; `kernel(rows, n, x, stride, y)` for floats, better(a, b) for integers.
template <class Kernel, class Better>
Tensor extreme(const char* op, const Tensor& x, const Dims& dims, bool keepdim, Kernel kernel,
               Better better) {
  const Plan plan = plan_reduction(op, x, dims);
  check(plan.count > 0, op, "of nothing is not defined; got shape ", x.shape());
  const Tensor result = empty(keepdim ? plan.keep_shape : plan.drop_shape, x.dtype());
  const Tensor rows = as_rows(x, plan);
  visit_number(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = rows.data<T>();
    T* to = result.data<T>();
    if constexpr (std::is_floating_point_v<T>) {
      kernel(plan.rows, plan.count, from, plan.count, to);
    } else {
      for (int64_t r = 0; r < plan.rows; ++r, from += plan.count) {
        to[r] = from[0];
        for (int64_t i = 1; i < plan.count; ++i) to[r] = better(from[i], to[r]) ? from[i] : to[r];
      }
    }
  });
  // dx = dy / (number of ties) where x is the extreme, else 0: it sums to dy.
  return record(op, result, {x},
                [x = Saved(x), keep_shape = plan.keep_shape, dims](const Tensor& dy,
                                                                   const Tensor& y) -> Gradients {
                  const Tensor chosen = x.get() == reshape(y.detach(), keep_shape);
                  const Tensor ties = sum(to(chosen, dy.dtype()), dims, true);
                  return {where(chosen, reshape(dy, keep_shape) / ties, zeros({}, dy.dtype()))};
                });
}

}  // namespace

// y = sum x;  dx = dy, repeated
Tensor sum(const Tensor& x, const Dims& dims, bool keepdim) {
  if (x.dtype() == DType::boolean) return sum(to(x, DType::i64), dims, keepdim);
  const Plan plan = plan_reduction("sum", x, dims);
  const Tensor y = empty(keepdim ? plan.keep_shape : plan.drop_shape, x.dtype());
  visit_number("sum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    sum_into(x, plan, y.data<T>());
  });
  return record("sum", y, {x},
                [shape = x.shape(), keep_shape = plan.keep_shape](const Tensor& dy) -> Gradients {
                  return {expand(reshape(dy, keep_shape), shape)};
                });
}

// y = max x
Tensor max(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme(
      "max", x, dims, keepdim, [](auto... arguments) { kernels::max_rows(arguments...); },
      [](auto a, auto b) { return a > b; });
}

// y = min x
Tensor min(const Tensor& x, const Dims& dims, bool keepdim) {
  return extreme(
      "min", x, dims, keepdim, [](auto... arguments) { kernels::min_rows(arguments...); },
      [](auto a, auto b) { return a < b; });
}

// y = the first index of the largest element; a NaN counts as the largest
Tensor argmax(const Tensor& x, int64_t dim, bool keepdim) {
  const Plan plan = plan_reduction("argmax", x, dim);
  check(plan.count > 0, "argmax", "of nothing is not defined; got shape ", x.shape());
  const Tensor y = empty(keepdim ? plan.keep_shape : plan.drop_shape, DType::i64);
  const Tensor rows = as_rows(x, plan);
  visit_number("argmax", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = rows.data<T>();
    int64_t* to = y.data<int64_t>();
    for (int64_t r = 0; r < plan.rows; ++r, from += plan.count) {
      int64_t best = 0;
      for (int64_t i = 1; i < plan.count && from[best] == from[best]; ++i) {
        if (from[i] > from[best] || from[i] != from[i]) best = i;
      }
      to[r] = best;
    }
  });
  return y;
}

Tensor argmax(const Tensor& x) { return argmax(reshape(x, {-1}), 0, false); }

}  // namespace lookback
