#include "nn/loss.h"

#include "engine/ops.h"

namespace lookback::nn {

Tensor language_model_loss(const Tensor& logits, const Tensor& target) {
  check(logits.dim() == 3 && target.dim() == 2 && logits.size(0) == target.size(0) &&
            logits.size(1) == target.size(1),
        "language_model_loss", "needs logits (B, T, V) and target (B, T); got ", logits.shape(),
        " and ", target.shape());
  const int64_t rows = target.numel();
  return cross_entropy(reshape(logits, {rows, logits.size(2)}), reshape(target, {rows}));
}

}  // namespace lookback::nn
