#include "attention/scaled_dot_product.h"

#include <limits>

#include "attention/masks.h"
#include "engine/ops.h"

namespace lookback::attention {
namespace {

constexpr const char* kName = "scaled_dot_product_attention";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, kName,
        "q, k and v need at least two dimensions; got ", q.shape(), ", ", k.shape(), " and ",
        v.shape());
  check(q.size(-1) == k.size(-1), kName, "q and k must have the same width; got ", q.shape(),
        " and ", k.shape());
  check(k.size(-2) == v.size(-2), kName, "k and v must have the same length; got ", k.shape(),
        " and ", v.shape());
  check_mask(kName, mask, q.size(-2), k.size(-2));
}

// True if some query may attend to no key: its softmax would be 0/0.
bool has_empty_row(const Tensor& may_attend) {
  const Tensor rows = may_attend.contiguous();
  const int64_t n = rows.dim() == 0 ? 1 : rows.size(-1);
  if (n == 0) return true;
  const Boolean* row = rows.data<Boolean>();
  for (int64_t r = 0; r < rows.numel() / n; ++r, row += n) {
    int64_t j = 0;
    while (j < n && !row[j]) ++j;
    if (j == n) return true;
  }
  return false;
}

}  // namespace

AttentionResult scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor& may_attend, AttentionOptions options) {
  check_operands(q, k, v, may_attend);
  const double scale = score_scale(kName, options.scale, q.size(-1));
  const Tensor never = full({}, -kInfinity, q.dtype());
  const Tensor nothing = full({}, 0.0, q.dtype());

  Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;              // (..., Tq, Tk)
  if (may_attend.defined()) scores = where(may_attend, scores, never);  // (..., Tq, Tk)
  Tensor weights = softmax(scores, -1);                                 // (..., Tq, Tk)
  if (may_attend.defined() && has_empty_row(may_attend)) {
    weights = where(may_attend, weights, nothing);  // (..., Tq, Tk)
  }
  return {matmul(weights, v), weights};  // (..., Tq, d_v)
}

}  // namespace lookback::attention
