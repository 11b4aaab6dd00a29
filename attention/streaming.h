// Streaming attention: softmax over keys that arrive one block at a time. The shift-invariance of
// softmax lets a running maximum stand for the final one (Milakov and Gimelshein 2018).
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace lookback::attention {

// What is known of each query's output after the keys seen so far.
class StreamingSoftmax {
 public:
  // For queries of leading shape (..., Tq) and values of width d_v.
  StreamingSoftmax(const Shape& query_shape, int64_t d_v, DType dtype);

  // Takes in one block of keys: scores (..., Tq, n), -infinity where masked, values (..., n, d_v).
  void step(const Tensor& scores, const Tensor& values);

  // accumulator / running_sum, or 0 where no key was allowed: (..., Tq, d_v)
  Tensor output() const;

  const Tensor& running_max() const { return running_max_; }  // (..., Tq, 1)
  const Tensor& running_sum() const { return running_sum_; }  // (..., Tq, 1), of exp(score - max)
  const Tensor& accumulator() const { return accumulator_; }  // (..., Tq, d_v)
  const Tensor& rescale() const { return rescale_; }          // of the last step: (..., Tq, 1)

 private:
  Tensor running_max_;
  Tensor running_sum_;
  Tensor accumulator_;
  Tensor rescale_;
};

struct StreamingOptions {
  double scale = 0;                  // 0: 1 / sqrt(d_k)
  std::vector<int64_t> blocks = {};  // sizes of the blocks, in order; empty: one key at a time
};

// The output of scaled_dot_product_attention(q, k, v, mask), key by key; same shapes.
Tensor streaming_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const Tensor& mask = {}, const StreamingOptions& options = {});

}  // namespace lookback::attention
