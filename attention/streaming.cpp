#include "attention/streaming.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/ops.h"

namespace lookback::attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape with_last(Shape shape, int64_t size) {
  shape.push_back(size);
  return shape;
}

}  // namespace

StreamingSoftmax::StreamingSoftmax(const Shape& query_shape, int64_t d_v, DType dtype)
    : running_max_(full(with_last(query_shape, 1), -kInfinity, dtype)),
      running_sum_(zeros(with_last(query_shape, 1), dtype)),
      accumulator_(zeros(with_last(query_shape, d_v), dtype)),
      rescale_(ones(with_last(query_shape, 1), dtype)) {}

void StreamingSoftmax::step(const Tensor& scores, const Tensor& values) {
  if (scores.size(-1) == 0) return;
  // The maximum is a shift that cancels; no gradient flows through it.
  const Tensor block_max = max(scores.detach(), -1, true);
  const Tensor new_max = maximum(running_max_, block_max);
  // While every key so far is masked the maximum is -infinity; any finite shift will do.
  const Tensor shift = masked_fill(new_max, new_max == -kInfinity, 0.0);

  rescale_ = exp(running_max_ - shift);  // 1 if the maximum stays, exp(-infinity) = 0 at first
  const Tensor weights = exp(scores - shift);  // (..., Tq, n), not yet divided by their sum
  running_sum_ = running_sum_ * rescale_ + sum(weights, -1, true);
  accumulator_ = accumulator_ * rescale_ + matmul(weights, values);
  running_max_ = new_max;
}

Tensor StreamingSoftmax::output() const {
  const Tensor none = running_sum_ == 0.0;
  return masked_fill(accumulator_ / masked_fill(running_sum_, none, 1.0), none, 0.0);
}

Tensor streaming_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                           const StreamingOptions& options) {
  constexpr const char* name = "streaming_attention";
  check(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2 && q.size(-1) == k.size(-1) &&
            k.size(-2) == v.size(-2),
        name, "needs q (..., Tq, d_k), k (..., Tk, d_k), v (..., Tk, d_v); got ", q.shape(), ", ",
        k.shape(), " and ", v.shape());
  const int64_t Tk = k.size(-2);
  const std::vector<int64_t> blocks =
      options.blocks.empty() ? std::vector<int64_t>(static_cast<size_t>(Tk), 1) : options.blocks;
  for (const int64_t n : blocks) check(n >= 0, name, "block sizes must not be negative; got ", n);
  const int64_t total = std::accumulate(blocks.begin(), blocks.end(), int64_t{0});
  check(total == Tk, name, "block sizes must sum to the number of keys; got ", total, " and ", Tk);
  const double scale = score_scale(name, options.scale, q.size(-1));

  Shape query_shape = broadcast_shapes(name, q.shape(), Shape::filled(q.dim(), 1));
  query_shape.erase(q.dim() - 1);
  const Tensor never = full({}, -kInfinity, q.dtype());
  StreamingSoftmax state(query_shape, v.size(-1), q.dtype());
  int64_t start = 0;
  for (const int64_t n : blocks) {
    const Tensor keys = narrow(k, -2, start, n);                 // (..., n, d_k)
    Tensor scores = matmul(q, transpose(keys, -2, -1)) * scale;  // (..., Tq, n)
    if (mask.defined()) {
      const bool per_key = mask.dim() >= 1 && mask.size(-1) != 1;
      scores = where(per_key ? narrow(mask, -1, start, n) : mask, scores, never);
    }
    state.step(scores, narrow(v, -2, start, n));
    start += n;
  }
  return state.output();
}

}  // namespace lookback::attention
