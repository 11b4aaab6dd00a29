// Attention as one op: blockwise forward and backward kernels instead of a T x T matrix.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/kernels/attention.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

constexpr const char* kName = "blockwise_attention";

kernels::AttentionShape kernel_shape(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const BlockwiseOptions& options) {
  return {.batch = q.size(0),
          .heads = q.size(1),
          .kv_heads = k.size(1),
          .Tq = q.size(2),
          .Tk = k.size(2),
          .d = q.size(3),
          .dv = v.size(3),
          .scale = score_scale(kName, options.scale, q.size(3)),
          .causal = options.causal || options.window > 0,
          .window = options.window};
}

// The kernels read any strides, as long as the last dimension is contiguous.
Tensor with_contiguous_rows(const Tensor& x) {
  return x.size(3) <= 1 || x.strides()[3] == 1 ? x.detach() : x.detach().contiguous();
}

template <class T>
kernels::Operand<T> operand(const Tensor& x) {
  return {x.data<T>(), x.strides()[0], x.strides()[1], x.strides()[2]};
}

template <class T>
kernels::MutableOperand<T> target(const Tensor& x) {
  return {x.data<T>(), x.strides()[0], x.strides()[1], x.strides()[2]};
}

kernels::MayAttend may_attend(const Tensor& mask) {
  if (!mask.defined()) return {nullptr, 0, 0, 0, 0};
  const Strides& s = mask.strides();
  return {mask.data<Boolean>(), s[0], s[1], s[2], s[3]};
}

// (Tq, Tk): what causal and window allow, and `mask` beside them. Undefined: everything.
Tensor visible(const kernels::AttentionShape& shape, const Tensor& mask) {
  if (!shape.causal) return mask;
  const Tensor distance =
      arange(shape.Tk) - unsqueeze(arange(shape.Tk - shape.Tq, shape.Tk), 1);  // key - query
  Tensor allowed = distance <= 0.0;
  if (shape.window > 0) {
    allowed = logical_and(allowed, distance > static_cast<double>(-shape.window));
  }
  return mask.defined() ? logical_and(allowed, mask) : allowed;
}

// x with NaN and infinity replaced by 0.
Tensor finite(const Tensor& x) {
  const Tensor nothing = zeros({}, x.dtype());
  return where(eq(x - x, nothing), x, nothing);
}

// (..., T, 1): NaN for the rows of x that hold one, or an infinity; 0 for the others.
Tensor taint(const Tensor& x) { return sum(x.detach() - x.detach(), -1, true); }

// The derivative in tensor ops, with the T x T matrices: P = softmax(S), S = scale q k^T, O = P v,
//   dv = P^T dO,  dP = dO v^T,  dS = P (dP - sum_j P dP),  dq = scale dS k,  dk = scale dS^T q.
// Query heads of a group stand in a dimension of their own, r, over which dk and dv are summed.
// Products see finite numbers alone, since 0 * NaN would carry what is hidden into them; a row that
// was not finite taints the scores that see it.
Gradients composed_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                            const kernels::AttentionShape& shape, const Tensor& dout) {
  const int64_t r = shape.heads / shape.kv_heads;
  const auto grouped = [&](const Tensor& x) {
    return reshape(x, {shape.batch, shape.kv_heads, r, shape.Tq, x.size(3)});
  };
  const auto t = [](const Tensor& x) { return transpose(x, -2, -1); };
  const Tensor Q = grouped(finite(q));
  const Tensor K = unsqueeze(finite(k), 2);
  const Tensor V = unsqueeze(finite(v), 2);
  const Tensor dO = grouped(dout);
  const Tensor taint_S = grouped(taint(q)) + t(unsqueeze(taint(k), 2));
  const Tensor taint_dP = t(unsqueeze(taint(v), 2));

  Tensor allowed = visible(shape, mask);
  if (allowed.defined()) {
    allowed = reshape(expand(allowed, {shape.batch, shape.heads, shape.Tq, shape.Tk}),
                      {shape.batch, shape.kv_heads, r, shape.Tq, shape.Tk});
  }
  const auto seen = [&](const Tensor& x, double hidden) {
    return allowed.defined() ? where(allowed, x, full({}, hidden, x.dtype())) : x;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor S = seen(matmul(Q, t(K)) * shape.scale + taint_S, -infinity);
  const Tensor P = seen(softmax(S, -1), 0);
  const Tensor dP = seen(matmul(dO, t(V)) + taint_dP, 0);
  const Tensor dS = seen(P * (dP - sum(P * dP, -1, true)) * shape.scale, 0);
  const Tensor dq = reshape(matmul(dS, K), q.shape());
  const Tensor dk = sum(matmul(t(dS), Q), 2);
  const Tensor dv = sum(matmul(t(P), dO), 2);
  return {dq, dk, dv};
}

Gradients fused_backward(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                         const kernels::AttentionShape& shape, const Tensor& lse, const Tensor& out,
                         const Tensor& dout) {
  const Tensor dO = with_contiguous_rows(dout);
  const Tensor dq = empty(q.shape(), q.dtype());
  const Tensor dk = empty(k.shape(), k.dtype());
  const Tensor dv = empty(v.shape(), v.dtype());
  visit_float(kName, q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::attention_backward(
        shape, operand<T>(with_contiguous_rows(q)), operand<T>(with_contiguous_rows(k)),
        operand<T>(with_contiguous_rows(v)), may_attend(mask), operand<T>(out), lse.data<T>(),
        operand<T>(dO), target<T>(dq), target<T>(dk), target<T>(dv));
  });
  return {dq, dk, dv};
}

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    const BlockwiseOptions& options) {
  const bool shapes_fit = q.dim() == 4 && k.dim() == 4 && v.dim() == 4 && q.size(0) == k.size(0) &&
                          q.size(3) == k.size(3) && k.size(0) == v.size(0) &&
                          k.size(1) == v.size(1) && k.size(2) == v.size(2);
  check(shapes_fit, kName,
        "needs q (B, H, Tq, d_k), k (B, H_kv, Tk, d_k), v (B, H_kv, Tk, d_v); got ", q.shape(),
        ", ", k.shape(), " and ", v.shape());
  check(k.size(1) > 0 && q.size(1) % k.size(1) == 0, kName,
        "the kv heads must divide the query heads; got ", q.shape(), " and ", k.shape());
  check(q.dtype() == k.dtype() && q.dtype() == v.dtype(), kName, "dtypes must match; got ",
        q.dtype(), ", ", k.dtype(), " and ", v.dtype());
  check(options.window >= 0, kName, "the window must not be negative; got ", options.window);
  check(!mask.defined() || mask.dtype() == DType::boolean, kName,
        "the mask must be boolean, true = may attend; got ",
        mask.defined() ? mask.dtype() : DType::boolean);
}

}  // namespace

double score_scale(const char* op, double scale, int64_t d_k) {
  check(std::isfinite(scale), op, "the scale must be finite; got ", scale);
  if (scale != 0) return scale;
  check(d_k > 0, op, "queries of width 0 have no default scale 1 / sqrt(d_k)");
  return 1.0 / std::sqrt(static_cast<double>(d_k));
}

// out = softmax(scale q k^T) v by blocks (Dao et al. 2022); a masked key is never read;
// derivative: composed_backward
Tensor blockwise_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                           BlockwiseOptions options) {
  check_operands(q, k, v, mask, options);
  const kernels::AttentionShape shape = kernel_shape(q, k, v, options);
  Tensor full_mask;  // (B, H, Tq, Tk), repeated without a copy
  if (mask.defined()) {
    full_mask = expand(mask, {shape.batch, shape.heads, shape.Tq, shape.Tk});
  }
  // Stored as (B, Tq, H, d_v), so that putting the heads side by side is free.
  const Tensor out =
      transpose(empty({shape.batch, shape.Tq, shape.heads, shape.dv}, q.dtype()), 1, 2);
  const Tensor lse = empty({shape.batch, shape.heads, shape.Tq}, q.dtype());
  visit_float(kName, q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::attention_forward(
        shape, operand<T>(with_contiguous_rows(q)), operand<T>(with_contiguous_rows(k)),
        operand<T>(with_contiguous_rows(v)), may_attend(full_mask), target<T>(out), lse.data<T>());
  });
  return record(kName, out, {q, k, v},
                [q = Saved(q), k = Saved(k), v = Saved(v), mask = Saved(full_mask), lse, shape](
                    const Tensor& dy, const Tensor& y) -> Gradients {
                  if (grad_enabled()) return composed_backward(q, k, v, mask, shape, dy);
                  return fused_backward(q, k, v, mask, shape, lse, y, dy);
                });
}

}  // namespace lookback
