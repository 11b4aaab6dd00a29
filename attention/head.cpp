#include "attention/head.h"

#include "attention/fused.h"
#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"

namespace lookback::attention {
namespace {

Tensor head_mask(int64_t T_max, const HeadOptions& options) {
  if (!options.causal) return ones({T_max, T_max}, DType::boolean);
  return options.window > 0 ? sliding_window_mask(T_max, T_max, options.window)
                            : causal_mask(T_max, T_max);
}

// Of the projections. Throws before anything is drawn from a generator.
nn::LinearOptions checked(int64_t T_max, const HeadOptions& options) {
  check(T_max >= 1, "head", "T_max must be at least 1; got ", T_max);
  check(T_max <= kMaxElements / T_max, "head", "a mask of T_max by T_max is too large; got ",
        T_max);
  check(options.window >= 0, "head", "the window must not be negative; got ", options.window);
  check(options.causal || options.window == 0, "head", "a window needs causal attention");
  return {.bias = options.bias, .dtype = options.dtype};
}

}  // namespace

Head::Head(int64_t d, int64_t d_head, int64_t T_max, Generator& generator, HeadOptions options)
    : key(d, d_head, generator, checked(T_max, options)),
      query(d, d_head, generator, {.bias = options.bias, .dtype = options.dtype}),
      value(d, d_head, generator, {.bias = options.bias, .dtype = options.dtype}),
      options_(options) {
  register_module("key", key);
  register_module("query", query);
  register_module("value", value);
  tril = register_buffer("tril", head_mask(T_max, options));
}

void Head::check_input(const Tensor& x) const {
  check(x.dim() == 2 || x.dim() == 3, "head", "needs x (B, T, d) or (T, d); got ", x.shape());
  check(x.size(-2) <= tril.size(0), "head", "the sequence is longer than T_max; got ", x.shape(),
        " and T_max ", tril.size(0));
}

// (T, T): the top left corner of tril
Tensor Head::may_attend(int64_t T) const { return narrow(narrow(tril, 0, 0, T), 1, 0, T); }

Tensor Head::forward(const Tensor& x) {
  check_input(x);
  const Tensor q = query.forward(x);  // (B, T, d_head)
  const Tensor k = key.forward(x);    // (B, T, d_head)
  const Tensor v = value.forward(x);  // (B, T, d_head)
  last_q_ = q.detach();
  last_k_ = k.detach();
  if (options_.fused) {
    return fused_attention(q, k, v, {}, {.causal = options_.causal, .window = options_.window});
  }
  return scaled_dot_product_attention(q, k, v, may_attend(x.size(-2))).output;  // (B, T, d_head)
}

Tensor Head::weights() const {
  check(last_q_.defined(), "head", "weights() needs a forward first");
  const NoGradGuard no_grad;
  const Tensor& no_values = last_k_;
  return scaled_dot_product_attention(last_q_, last_k_, no_values, may_attend(last_q_.size(-2)))
      .weights;  // (B, T, T)
}

AttentionResult Head::forward_with_weights(const Tensor& x) {
  const Tensor output = forward(x);
  return {output, weights()};
}

}  // namespace lookback::attention
