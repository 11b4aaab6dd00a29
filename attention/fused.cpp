#include "attention/fused.h"

#include "attention/masks.h"

namespace lookback::attention {
namespace {

// (T, d) or (B, T, d) -> (B, H, T, d)
Tensor with_heads(const Tensor& x) {
  if (x.dim() == 2) return unsqueeze(unsqueeze(x, 0), 0);
  return x.dim() == 3 ? unsqueeze(x, 1) : x;
}

}  // namespace

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                       FusedOptions options) {
  check(q.dim() >= 2 && q.dim() <= 4 && k.dim() == q.dim() && v.dim() == q.dim(), "fused_attention",
        "q, k and v need the same number of dimensions, 2 to 4; got ", q.shape(), ", ", k.shape(),
        " and ", v.shape());
  check(q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2), "fused_attention",
        "needs q (..., Tq, d_k), k (..., Tk, d_k), v (..., Tk, d_v); got ", q.shape(), ", ",
        k.shape(), " and ", v.shape());
  check_mask("fused_attention", mask, q.size(-2), k.size(-2));
  // (B, Tq, Tk) beside a q without heads; beside a q with heads (H, Tq, Tk) broadcasts as it is.
  const bool needs_heads = mask.defined() && mask.dim() == 3 && q.dim() == 3;
  const Tensor per_head = needs_heads ? unsqueeze(mask, 1) : mask;
  const Tensor out =
      blockwise_attention(with_heads(q), with_heads(k), with_heads(v), per_head, options);
  if (q.dim() == 4) return out;
  return q.dim() == 3 ? squeeze(out, 1) : squeeze(squeeze(out, 0), 0);
}

}  // namespace lookback::attention
