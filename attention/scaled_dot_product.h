// Scaled dot-product attention, as the paper writes it.
#pragma once

#include "engine/tensor.h"

namespace lookback::attention {

struct AttentionResult {
  Tensor output;   // (..., Tq, d_v)
  Tensor weights;  // (..., Tq, Tk); rows sum to 1, or are 0 where no key is allowed
};

struct AttentionOptions {
  double scale = 0;  // what scores are multiplied by; 0: 1 / sqrt(d_k), the width of q and k
};

// softmax(q k^T / sqrt(d_k)) v (Vaswani et al. 2017, eq. 1), with masked scores at -infinity.
// q (..., Tq, d_k), k (..., Tk, d_k), v (..., Tk, d_v), leading dimensions broadcast; mask boolean,
// true = may attend, broadcasts to (..., Tq, Tk); undefined: every key is allowed.
//
// A query with no allowed key has output 0, weights 0 and gradients exactly 0. A NaN or infinity
// in the value of a masked key does reach the output here, since 0 * NaN is NaN, as the algebra
// says; fused_attention never reads it.
AttentionResult scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                             const Tensor& mask = {},
                                             AttentionOptions options = {});

}  // namespace lookback::attention
