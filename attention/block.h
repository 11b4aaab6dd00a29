// Block: one pre-norm transformer block (as in GPT-2, Radford et al. 2019).
#pragma once

#include "attention/multi_head.h"
#include "nn/layer_norm.h"
#include "nn/mlp.h"

namespace lookback::attention {

// x = x + Attention(LayerNorm(x)), then x = x + MLP(LayerNorm(x)).
class Block : public nn::Module {
 public:
  // The MLP's hidden layer is 4 d_model wide.
  Block(MultiHeadAttentionOptions options, Generator& generator);

  Tensor forward(const Tensor& x) const;                  // (B, T, d_model) -> (B, T, d_model)
  Tensor forward(const Tensor& x, KVCache& cache) const;  // the next tokens; records nothing

  nn::LayerNorm attention_norm;
  MultiHeadAttention attention;
  nn::LayerNorm mlp_norm;
  nn::MLP mlp;
};

}  // namespace lookback::attention
