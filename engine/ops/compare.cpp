// Comparisons and logic: the results are boolean tensors, and nothing is differentiable.
#include "engine/ops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

template <class F>
Tensor compare(const char* op, const Tensor& a, const Tensor& b, F holds) {
  pointwise::check_same_dtype(op, a, b);
  return visit(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return pointwise::binary<T, T, Boolean>(op, a, b, pointwise::each(holds));
  });
}

template <class F>
Tensor combine(const char* op, const Tensor& a, const Tensor& b, F f) {
  check(a.dtype() == DType::boolean && b.dtype() == DType::boolean, op,
        "needs boolean tensors; got ", a.dtype(), " and ", b.dtype());
  return pointwise::binary<Boolean, Boolean, Boolean>(op, a, b, pointwise::each(f));
}

}  // namespace

Tensor number_beside(const Tensor& x, double s) {
  visit(x.dtype(), [&](auto zero) { pointwise::scalar_as<decltype(zero)>("compare", s); });
  return full({}, s, x.dtype());
}

Tensor eq(const Tensor& a, const Tensor& b) {
  return compare("eq", a, b, [](auto p, auto q) { return p == q; });
}

Tensor ne(const Tensor& a, const Tensor& b) {
  return compare("ne", a, b, [](auto p, auto q) { return p != q; });
}

Tensor lt(const Tensor& a, const Tensor& b) {
  return compare("lt", a, b, [](auto p, auto q) { return p < q; });
}

Tensor le(const Tensor& a, const Tensor& b) {
  return compare("le", a, b, [](auto p, auto q) { return p <= q; });
}

Tensor gt(const Tensor& a, const Tensor& b) {
  return compare("gt", a, b, [](auto p, auto q) { return p > q; });
}

Tensor ge(const Tensor& a, const Tensor& b) {
  return compare("ge", a, b, [](auto p, auto q) { return p >= q; });
}

Tensor logical_not(const Tensor& x) {
  check(x.dtype() == DType::boolean, "logical_not", "needs a boolean tensor; got ", x.dtype());
  return pointwise::unary<Boolean, Boolean>(x, [](int64_t n, const Boolean* from, Boolean* to) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] == 0;
  });
}

Tensor logical_and(const Tensor& a, const Tensor& b) {
  return combine("logical_and", a, b, [](auto p, auto q) { return p && q; });
}

Tensor logical_or(const Tensor& a, const Tensor& b) {
  return combine("logical_or", a, b, [](auto p, auto q) { return p || q; });
}

}  // namespace lookback
