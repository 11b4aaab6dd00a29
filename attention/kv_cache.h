// KVCache: keys and values of the tokens seen so far, so that decoding a token need not project
// the earlier ones again.
#pragma once

#include "engine/tensor.h"

namespace lookback::attention {

// Bytes that the keys (or the values: as many again) of a model hold after t tokens.
int64_t kv_cache_bytes(int64_t layers, int64_t kv_heads, int64_t t, int64_t d_k, DType dtype,
                       int64_t batch);

// The cache of one layer. Room for max_length tokens is allocated at once; appending copies into
// it and returns views. For inference: what is appended leaves the graph.
class KVCache {
 public:
  KVCache(int64_t batch, int64_t num_kv_heads, int64_t max_length, int64_t d_head,
          DType dtype = DType::f32);

  // k and v: (B, H_kv, t, d_head), the next t tokens. Throws std::invalid_argument, before anything
  // is written, if they do not fit.
  void append(const Tensor& k, const Tensor& v);
  // Forgets the tokens after the first `length`; REQUIRES: length <= this->length().
  void truncate(int64_t length);

  Tensor keys() const;    // (B, H_kv, length, d_head), a view
  Tensor values() const;  // likewise
  int64_t length() const { return length_; }
  int64_t max_length() const { return keys_.size(2); }

  // 2 x kv_cache_bytes(1, H_kv, length, d_head, dtype, B): keys and values of the tokens held.
  int64_t bytes() const;
  int64_t bytes_allocated() const;  // the same at max_length

 private:
  int64_t bytes_at(int64_t length) const;

  Tensor keys_;    // (B, H_kv, max_length, d_head)
  Tensor values_;  // (B, H_kv, max_length, d_head)
  int64_t length_ = 0;
};

}  // namespace lookback::attention
