#include "attention/multi_head.h"

#include "attention/fused.h"
#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"

namespace lookback::attention {
namespace {

constexpr const char* kName = "multi_head_attention";

// Fills in the defaults. Throws std::invalid_argument on sizes that do not fit together.
MultiHeadAttentionOptions checked(MultiHeadAttentionOptions o) {
  check(o.d_model >= 1 && o.num_heads >= 1, kName, "d_model and num_heads must be at least 1; got ",
        o.d_model, " and ", o.num_heads);
  check(o.d_model % o.num_heads == 0, kName, "num_heads must divide d_model; got d_model ",
        o.d_model, " and num_heads ", o.num_heads);
  check(o.num_kv_heads >= 0, kName, "num_kv_heads must not be negative; got ", o.num_kv_heads);
  if (o.num_kv_heads == 0) o.num_kv_heads = o.num_heads;
  check(o.num_heads % o.num_kv_heads == 0, kName,
        "num_kv_heads must divide num_heads; got num_heads ", o.num_heads, " and num_kv_heads ",
        o.num_kv_heads);
  check(o.max_length >= 0, kName, "max_length must not be negative; got ", o.max_length);
  check(o.window >= 0, kName, "the window must not be negative; got ", o.window);
  check(o.causal || o.window == 0, kName, "a window needs causal attention");
  return o;
}

// Heads one by one each hold a mask, and need to know its size.
MultiHeadAttentionOptions checked_for_heads(const MultiHeadAttentionOptions& o) {
  check(o.max_length >= 1, "concat_heads", "needs a max_length; got ", o.max_length);
  return checked(o);
}

nn::LinearOptions linear_options(const MultiHeadAttentionOptions& o) {
  return {.bias = o.bias, .dtype = o.dtype};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions options, Generator& generator)
    : query(checked(options).d_model, options.d_model, generator, linear_options(options)),
      key(options.d_model, checked(options).num_kv_heads * (options.d_model / options.num_heads),
          generator, linear_options(options)),
      value(options.d_model, checked(options).num_kv_heads * (options.d_model / options.num_heads),
            generator, linear_options(options)),
      output(options.d_model, options.d_model, generator, linear_options(options)),
      options_(checked(options)) {
  register_module("query", query);
  register_module("key", key);
  register_module("value", value);
  register_module("output", output);
}

void MultiHeadAttention::check_input(const Tensor& x) const {
  check(x.dim() == 3 && x.size(2) == options_.d_model, kName, "needs x (B, T, d_model); got ",
        x.shape(), " and d_model ", options_.d_model);
  check(options_.max_length == 0 || x.size(1) <= options_.max_length, kName,
        "the sequence is longer than max_length; got ", x.shape(), " and max_length ",
        options_.max_length);
}

// (B, T, heads d_head) -> (B, heads, T, d_head), a view
Tensor MultiHeadAttention::split_heads(const Tensor& x, int64_t heads) const {
  return transpose(reshape(x, {x.size(0), x.size(1), heads, d_head()}), 1, 2);
}

// The readable path. q (B, H, Tq, d_head), k and v (B, H_kv, Tk, d_head)
// -> (B, H, Tq, d_head), and detached (B, H, Tq, Tk)
AttentionResult MultiHeadAttention::compose(const Tensor& q, const Tensor& k,
                                            const Tensor& v) const {
  const int64_t B = q.size(0);
  const int64_t Tq = q.size(2);
  const int64_t Tk = k.size(2);
  const int64_t groups = options_.num_kv_heads;
  const int64_t r = options_.num_heads / groups;
  Tensor mask;
  if (options_.causal) {
    mask = options_.window > 0 ? sliding_window_mask(Tq, Tk, options_.window) : causal_mask(Tq, Tk);
  }
  // Query heads g r ... g r + r - 1 share kv head g: broadcast over a dimension of their own.
  const Tensor grouped_q = reshape(q, {B, groups, r, Tq, d_head()});  // (B, H_kv, r, Tq, d_head)
  const AttentionResult grouped = scaled_dot_product_attention(
      grouped_q, unsqueeze(k, 2), unsqueeze(v, 2), mask);  // (B, H_kv, r, Tq, ...)
  return {reshape(grouped.output, {B, options_.num_heads, Tq, d_head()}),
          reshape(grouped.weights.detach(), {B, options_.num_heads, Tq, Tk})};
}

AttentionResult MultiHeadAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v,
                                           bool with_weights) const {
  if (!options_.fused) return compose(q, k, v);
  AttentionResult result;
  result.output =
      fused_attention(q, k, v, {}, {.causal = options_.causal, .window = options_.window});
  if (with_weights) {
    const NoGradGuard no_grad;
    result.weights = compose(q, k, v).weights;
  }
  return result;
}

AttentionResult MultiHeadAttention::run(const Tensor& x, const Tensor& context,
                                        bool with_weights) const {
  check_input(x);
  check_input(context);
  check(x.size(0) == context.size(0), kName, "x and context must have the same batch; got ",
        x.shape(), " and ", context.shape());
  const Tensor q = split_heads(query.forward(x), options_.num_heads);  // (B, H, Tq, d_head)
  const Tensor k =
      split_heads(key.forward(context), options_.num_kv_heads);  // (B, H_kv, Tk, d_head)
  const Tensor v =
      split_heads(value.forward(context), options_.num_kv_heads);  // (B, H_kv, Tk, d_head)
  AttentionResult result = attend(q, k, v, with_weights);
  const Tensor merged = reshape(transpose(result.output, 1, 2), x.shape());  // (B, Tq, d_model)
  result.output = output.forward(merged);                                    // (B, Tq, d_model)
  return result;
}

Tensor MultiHeadAttention::forward(const Tensor& x) const { return run(x, x, false).output; }

Tensor MultiHeadAttention::forward(const Tensor& x, const Tensor& context) const {
  return run(x, context, false).output;
}

AttentionResult MultiHeadAttention::forward_with_weights(const Tensor& x) const {
  return run(x, x, true);
}

AttentionResult MultiHeadAttention::forward_with_weights(const Tensor& x,
                                                         const Tensor& context) const {
  return run(x, context, true);
}

Tensor MultiHeadAttention::forward(const Tensor& x, KVCache& cache) const {
  const NoGradGuard no_grad;
  check_input(x);
  check(options_.causal, kName, "a cache needs causal attention");
  const int64_t length = cache.length() + x.size(1);
  check(options_.max_length == 0 || length <= options_.max_length, kName,
        "the cached sequence would be longer than max_length; got ", length, " and ",
        options_.max_length);
  const Tensor q = split_heads(query.forward(x), options_.num_heads);  // (B, H, t, d_head)
  cache.append(split_heads(key.forward(x), options_.num_kv_heads),
               split_heads(value.forward(x), options_.num_kv_heads));
  const Tensor heads = attend(q, cache.keys(), cache.values(), false).output;  // (B, H, t, d_head)
  return output.forward(reshape(transpose(heads, 1, 2), x.shape()));           // (B, t, d_model)
}

KVCache MultiHeadAttention::make_cache(int64_t batch, int64_t max_length) const {
  return KVCache(batch, options_.num_kv_heads, max_length > 0 ? max_length : options_.max_length,
                 d_head(), options_.dtype);
}

ConcatHeads::ConcatHeads(MultiHeadAttentionOptions options, Generator& generator)
    : output(checked_for_heads(options).d_model, options.d_model, generator,
             linear_options(options)),
      options_(checked(options)) {
  for (int64_t h = 0; h < options_.num_heads; ++h) {
    heads_.push_back(std::make_unique<Head>(options_.d_model, options_.d_model / options_.num_heads,
                                            options_.max_length, generator,
                                            HeadOptions{.bias = options_.bias,
                                                        .causal = options_.causal,
                                                        .window = options_.window,
                                                        .fused = options_.fused,
                                                        .dtype = options_.dtype}));
    register_module("head" + std::to_string(h), *heads_.back());
  }
  register_module("output", output);
}

Tensor ConcatHeads::forward(const Tensor& x) {
  std::vector<Tensor> parts;
  for (const auto& head : heads_) parts.push_back(head->forward(x));  // each (B, T, d_head)
  return output.forward(cat(parts, -1));                              // (B, T, d_model)
}

void ConcatHeads::copy_weights_from(const MultiHeadAttention& source) {
  const MultiHeadAttentionOptions& o = source.options();
  check(o.d_model == options_.d_model && o.num_heads == options_.num_heads &&
            o.num_kv_heads == options_.num_kv_heads && o.causal == options_.causal &&
            o.window == options_.window && o.bias == options_.bias && o.dtype == options_.dtype,
        "concat_heads", "the options of both must agree");
  const NoGradGuard no_grad;
  const int64_t width = source.d_head();
  // Head h of a Linear's output is rows h d_head ... of its weight.
  const auto copy_rows = [&](const nn::Linear& from, const nn::Linear& to, int64_t row) {
    to.weight.copy_(narrow(from.weight, 0, row, width));
    if (to.bias.defined()) to.bias.copy_(narrow(from.bias, 0, row, width));
  };
  for (int64_t h = 0; h < options_.num_heads; ++h) {
    const int64_t group = h * options_.num_kv_heads / options_.num_heads;
    copy_rows(source.query, head(h).query, h * width);
    copy_rows(source.key, head(h).key, group * width);
    copy_rows(source.value, head(h).value, group * width);
  }
  output.weight.copy_(source.output.weight);
  if (output.bias.defined()) output.bias.copy_(source.output.bias);
}

}  // namespace lookback::attention
