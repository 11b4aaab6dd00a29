// Multi-head attention: several heads at once, each in a subspace of its own; and the same function
// in the readable form, heads one by one.
#pragma once

#include <memory>
#include <vector>

#include "attention/head.h"
#include "attention/kv_cache.h"

namespace lookback::attention {

struct MultiHeadAttentionOptions {
  int64_t d_model = 0;
  int64_t num_heads = 1;     // H; must divide d_model
  int64_t num_kv_heads = 0;  // H_kv; must divide H; 0: H. 1: multi-query (Shazeer 2019), between:
                             // grouped-query attention (Ainslie et al. 2023)
  int64_t max_length = 0;    // longest sequence; 0: no limit
  bool causal = true;
  int64_t window = 0;  // 0: all earlier keys; W: the last W, the token itself included
  bool bias = true;    // of the four projections
  bool fused = true;   // output by fused_attention; false: by the composed, readable path
  DType dtype = DType::f32;
};

// Concat(head_1, ..., head_H) W_o (Vaswani et al. 2017, section 3.2.2).
class MultiHeadAttention : public nn::Module {
 public:
  MultiHeadAttention(MultiHeadAttentionOptions options, Generator& generator);

  // Self-attention: (B, T, d_model) -> (B, T, d_model).
  Tensor forward(const Tensor& x) const;
  // Cross-attention: queries from x (B, Tq, d_model), keys and values from context (B, Tk,
  // d_model).
  Tensor forward(const Tensor& x, const Tensor& context) const;
  // Self-attention of the next tokens x (B, t, d_model) with all tokens before them, whose keys and
  // values the cache holds; x's are appended. Inference only: records nothing.
  Tensor forward(const Tensor& x, KVCache& cache) const;
  // The same output to the bit, and the weights (B, H, T, T): detached.
  AttentionResult forward_with_weights(const Tensor& x) const;
  AttentionResult forward_with_weights(const Tensor& x, const Tensor& context) const;

  // An empty cache that fits: REQUIRES: max_length > 0 here or in the options.
  KVCache make_cache(int64_t batch, int64_t max_length = 0) const;

  const MultiHeadAttentionOptions& options() const { return options_; }
  int64_t d_head() const { return options_.d_model / options_.num_heads; }

  nn::Linear query;   // d_model -> H d_head
  nn::Linear key;     // d_model -> H_kv d_head
  nn::Linear value;   // d_model -> H_kv d_head
  nn::Linear output;  // H d_head -> d_model

 private:
  void check_input(const Tensor& x) const;
  Tensor split_heads(const Tensor& x, int64_t heads) const;
  AttentionResult compose(const Tensor& q, const Tensor& k, const Tensor& v) const;
  AttentionResult attend(const Tensor& q, const Tensor& k, const Tensor& v,
                         bool with_weights) const;
  AttentionResult run(const Tensor& x, const Tensor& context, bool with_weights) const;

  MultiHeadAttentionOptions options_;
};

// H independent Heads, their outputs side by side, projected: the same function to the bit. With
// grouped queries, the heads of a group hold equal key and value weights.
class ConcatHeads : public nn::Module {
 public:
  ConcatHeads(MultiHeadAttentionOptions options, Generator& generator);

  Tensor forward(const Tensor& x);  // (B, T, d_model) -> (B, T, d_model)
  // Makes every weight a copy of its counterpart's. Throws unless the options agree.
  void copy_weights_from(const MultiHeadAttention& source);

  Head& head(int64_t h) { return *heads_[static_cast<size_t>(h)]; }

  nn::Linear output;  // H d_head -> d_model

 private:
  MultiHeadAttentionOptions options_;
  std::vector<std::unique_ptr<Head>> heads_;
};

}  // namespace lookback::attention
