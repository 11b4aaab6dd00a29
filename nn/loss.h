// Losses of whole models.
#pragma once

#include "engine/tensor.h"

namespace lookback::nn {

// The mean cross-entropy of next-token predictions; its exponential is the perplexity.
// logits (B, T, V), target i64 (B, T) -> scalar.
Tensor language_model_loss(const Tensor& logits, const Tensor& target);

}  // namespace lookback::nn
