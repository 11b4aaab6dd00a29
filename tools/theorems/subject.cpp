#include "tools/theorems/subject.h"

#include <cmath>
#include <limits>

#include "attention/fused.h"
#include "attention/masks.h"
#include "engine/ops.h"
#include "nn/init.h"

namespace lookback::tools {
namespace {

attention::MultiHeadAttentionOptions options_of(const Projections& p, int64_t window, bool fused) {
  return {.d_model = p.query.size(0),
          .num_heads = p.num_heads,
          .num_kv_heads = p.num_kv_heads,
          .window = window,
          .fused = fused,
          .dtype = p.query.dtype()};
}

bool truly_close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

std::vector<Tensor> in_pieces(const Tensor& x, const std::vector<int64_t>& pieces) {
  std::vector<Tensor> result;
  int64_t start = 0;
  for (const int64_t n : pieces) {
    result.push_back(narrow(x, 1, start, n));
    start += n;
  }
  return result;
}

attention::AttentionResult attend_heads(const Steps& s, const Projections& p, const Tensor& x,
                                        const Tensor& k, const Tensor& v, int64_t window) {
  const int64_t D = p.query.size(0);
  const int64_t repeats = p.num_heads / p.num_kv_heads;
  const Tensor q = s.split(s.project(x, p.query, p.query_bias), p.num_heads);
  const Tensor scores = s.scores(q, s.share(k, repeats), D);
  const Tensor weights = s.weights(scores, s.mask(q.size(2), k.size(2), window));
  const Tensor heads = s.merge(s.mix(weights, s.share(v, repeats)));
  return {s.project(heads, p.output, p.output_bias), weights.detach()};
}

attention::AttentionResult attend_fused(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const Tensor& mask) {
  Shape square = v.shape();
  square[v.dim() - 1] = v.size(-2);
  const Tensor identity = expand(eye(v.size(-2), v.dtype()), square);
  return {attention::fused_attention(q, k, v, mask),
          attention::fused_attention(q, k, identity, mask)};
}

}  // namespace

Projections random_projections(int64_t d_model, int64_t num_heads, int64_t num_kv_heads,
                               Generator& generator, DType dtype) {
  const int64_t kv_width = num_kv_heads * (d_model / num_heads);
  const auto matrix = [&](int64_t rows) {
    return nn::uniform_fan_in({rows, d_model}, d_model, generator, dtype) * 2.0;
  };
  const auto vector = [&](int64_t size) { return uniform({size}, -0.5, 0.5, generator, dtype); };
  Projections p;
  p.num_heads = num_heads;
  p.num_kv_heads = num_kv_heads;
  p.query = matrix(d_model);
  p.key = matrix(kv_width);
  p.value = matrix(kv_width);
  p.output = matrix(d_model);
  p.query_bias = vector(d_model);
  p.key_bias = vector(kv_width);
  p.value_bias = vector(kv_width);
  p.output_bias = vector(d_model);
  return p;
}

Projections in_precision(const Projections& p, DType dtype) {
  return {p.num_heads,
          p.num_kv_heads,
          to(p.query, dtype),
          to(p.key, dtype),
          to(p.value, dtype),
          to(p.output, dtype),
          to(p.query_bias, dtype),
          to(p.key_bias, dtype),
          to(p.value_bias, dtype),
          to(p.output_bias, dtype)};
}

void use(attention::MultiHeadAttention& layer, const Projections& p) {
  layer.query.weight = p.query;
  layer.key.weight = p.key;
  layer.value.weight = p.value;
  layer.output.weight = p.output;
  layer.query.bias = p.query_bias;
  layer.key.bias = p.key_bias;
  layer.value.bias = p.value_bias;
  layer.output.bias = p.output_bias;
}

Subject library_subject(bool fused, bool ask_weights) {
  Subject subject;
  subject.name = "lookback";
  subject.sentence = "the library itself";
  subject.fused = fused;
  subject.mask = [](int64_t Tq, int64_t Tk, int64_t window) {
    return window > 0 ? attention::sliding_window_mask(Tq, Tk, window)
                      : attention::causal_mask(Tq, Tk);
  };
  subject.attend = [fused](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
    return fused ? attend_fused(q, k, v, mask)
                 : attention::scaled_dot_product_attention(q, k, v, mask);
  };
  subject.multi_head = [fused, ask_weights](const Projections& p, const Tensor& x, int64_t window) {
    Generator unused(0);
    attention::MultiHeadAttention mha(options_of(p, window, fused), unused);
    use(mha, p);
    return ask_weights ? mha.forward_with_weights(x)
                       : attention::AttentionResult{mha.forward(x), Tensor()};
  };
  subject.decode = [fused](const Projections& p, const Tensor& x,
                           const std::vector<int64_t>& pieces) {
    Generator unused(0);
    attention::MultiHeadAttention mha(options_of(p, 0, fused), unused);
    use(mha, p);
    attention::KVCache cache = mha.make_cache(x.size(0), x.size(1));
    std::vector<Tensor> outputs;
    for (const Tensor& piece : in_pieces(x, pieces)) outputs.push_back(mha.forward(piece, cache));
    return cat(outputs, 1);
  };
  subject.close = truly_close;
  return subject;
}

Steps correct_steps() {
  Steps s;
  s.mask = library_subject(false).mask;
  s.scores = [](const Tensor& q, const Tensor& k, int64_t) {
    return matmul(q, transpose(k, -2, -1)) * (1.0 / std::sqrt(static_cast<double>(q.size(-1))));
  };
  s.weights = [](const Tensor& scores, const Tensor& mask) {
    if (!mask.defined()) return softmax(scores, -1);
    const Tensor never = full({}, -std::numeric_limits<double>::infinity(), scores.dtype());
    return where(mask, softmax(where(mask, scores, never), -1), zeros({}, scores.dtype()));
  };
  s.mix = [](const Tensor& weights, const Tensor& v) { return matmul(weights, v); };
  s.project = [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
    return matmul(x, transpose(weight, 0, 1)) + bias;
  };
  s.split = [](const Tensor& x, int64_t num_heads) {
    return transpose(reshape(x, {x.size(0), x.size(1), num_heads, x.size(2) / num_heads}), 1, 2);
  };
  s.merge = [](const Tensor& x) {
    return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
  };
  s.share = [](const Tensor& x, int64_t repeats) {
    const Tensor repeated =
        expand(unsqueeze(x, 2), {x.size(0), x.size(1), repeats, x.size(2), x.size(3)});
    return reshape(repeated, {x.size(0), x.size(1) * repeats, x.size(2), x.size(3)});
  };
  s.cache = [](const Tensor& past, const Tensor& now) {
    return past.defined() ? cat({past, now}, 2) : now;
  };
  s.close = truly_close;
  return s;
}

Subject assemble(std::string name, std::string sentence, const Steps& s) {
  Subject subject;
  subject.name = std::move(name);
  subject.sentence = std::move(sentence);
  subject.mask = s.mask;
  subject.close = s.close;
  subject.attend = [s](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
    // Alone, a head of width d stands for a model of two: "d_model" is 2 d.
    const Tensor weights = s.weights(s.scores(q, k, 2 * q.size(-1)), mask);
    return attention::AttentionResult{s.mix(weights, v), weights};
  };
  subject.multi_head = [s](const Projections& p, const Tensor& x, int64_t window) {
    const Tensor k = s.split(s.project(x, p.key, p.key_bias), p.num_kv_heads);
    const Tensor v = s.split(s.project(x, p.value, p.value_bias), p.num_kv_heads);
    return attend_heads(s, p, x, k, v, window);
  };
  subject.decode = [s](const Projections& p, const Tensor& x, const std::vector<int64_t>& pieces) {
    Tensor keys;
    Tensor values;
    std::vector<Tensor> outputs;
    for (const Tensor& piece : in_pieces(x, pieces)) {
      keys = s.cache(keys, s.split(s.project(piece, p.key, p.key_bias), p.num_kv_heads));
      values = s.cache(values, s.split(s.project(piece, p.value, p.value_bias), p.num_kv_heads));
      outputs.push_back(attend_heads(s, p, piece, keys, values, 0).output);
    }
    return cat(outputs, 1);
  };
  return subject;
}

}  // namespace lookback::tools
