#include "attention/block.h"

#include "engine/backward.h"
#include "engine/ops.h"

namespace lookback::attention {

Block::Block(MultiHeadAttentionOptions options, Generator& generator)
    : attention_norm(options.d_model, {.dtype = options.dtype}),
      attention(options, generator),
      mlp_norm(options.d_model, {.dtype = options.dtype}),
      mlp(options.d_model, 4 * options.d_model, generator,
          {.bias = options.bias, .dtype = options.dtype}) {
  register_module("attention_norm", attention_norm);
  register_module("attention", attention);
  register_module("mlp_norm", mlp_norm);
  register_module("mlp", mlp);
}

Tensor Block::forward(const Tensor& x) const {
  const Tensor h = x + attention.forward(attention_norm.forward(x));  // (B, T, d_model)
  return h + mlp.forward(mlp_norm.forward(h));                        // (B, T, d_model)
}

Tensor Block::forward(const Tensor& x, KVCache& cache) const {
  const NoGradGuard no_grad;
  const Tensor h = x + attention.forward(attention_norm.forward(x), cache);  // (B, t, d_model)
  return h + mlp.forward(mlp_norm.forward(h));                               // (B, t, d_model)
}

}  // namespace lookback::attention
