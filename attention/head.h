// Head: one causal self-attention head, the mathematical object at the centre.
#pragma once

#include "attention/scaled_dot_product.h"
#include "nn/linear.h"

namespace lookback::attention {

struct HeadOptions {
  bool bias = false;   // of the three projections
  bool causal = true;  // false: every token sees every token
  int64_t window = 0;  // 0: all earlier tokens; W: the last W, the token itself included
  bool fused = true;   // output by fused_attention; false: by the composed, readable path
  DType dtype = DType::f32;
};

class Head : public nn::Module {
 public:
  // d: width of the input; d_head: width of queries, keys and values; T_max: longest sequence.
  Head(int64_t d, int64_t d_head, int64_t T_max, Generator& generator, HeadOptions options = {});

  // (B, T, d) or (T, d) -> (B, T, d_head) or (T, d_head). Throws if T > T_max.
  Tensor forward(const Tensor& x);
  // The same output to the bit, and weights().
  AttentionResult forward_with_weights(const Tensor& x);

  // The attention matrix of the last forward, for looking at: (B, T, T) or (T, T), detached.
  // Computed here, from that forward's queries and keys. Throws std::invalid_argument before the
  // first forward.
  Tensor weights() const;

  nn::Linear key;
  nn::Linear query;
  nn::Linear value;
  // (T_max, T_max), true = may attend: a buffer, not a parameter; the lower triangle, or a band of
  // it under a window.
  Tensor tril;

 private:
  void check_input(const Tensor& x) const;
  Tensor may_attend(int64_t T) const;

  HeadOptions options_;
  Tensor last_q_, last_k_;  // detached
};

}  // namespace lookback::attention
