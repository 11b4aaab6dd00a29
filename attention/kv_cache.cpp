#include "attention/kv_cache.h"

#include <algorithm>

#include "engine/ops.h"

namespace lookback::attention {

int64_t kv_cache_bytes(int64_t layers, int64_t kv_heads, int64_t t, int64_t d_k, DType dtype,
                       int64_t batch) {
  const Shape sizes = {layers, kv_heads, t, d_k, batch};
  check(*std::min_element(sizes.begin(), sizes.end()) >= 0, "kv_cache_bytes",
        "sizes must not be negative; got ", sizes);
  return sizes.numel() * element_size(dtype);  // refuses what would overflow
}

KVCache::KVCache(int64_t batch, int64_t num_kv_heads, int64_t max_length, int64_t d_head,
                 DType dtype) {
  check(batch >= 1 && num_kv_heads >= 1 && max_length >= 1 && d_head >= 1, "kv_cache",
        "sizes must be at least 1; got batch ", batch, ", heads ", num_kv_heads, ", length ",
        max_length, ", width ", d_head);
  check(is_floating(dtype), "kv_cache", "needs f32 or f64; got ", dtype);
  keys_ = zeros({batch, num_kv_heads, max_length, d_head}, dtype);
  values_ = zeros({batch, num_kv_heads, max_length, d_head}, dtype);
}

void KVCache::append(const Tensor& k, const Tensor& v) {
  Shape expected = keys_.shape();
  expected[2] = k.dim() == 4 ? k.size(2) : 0;
  check(k.shape() == expected && v.shape() == expected && k.dtype() == keys_.dtype() &&
            v.dtype() == keys_.dtype(),
        "kv_cache", "k and v must both be (B, H_kv, t, d_head) of the cache ", keys_.shape(), " ",
        keys_.dtype(), "; got ", k.shape(), " ", k.dtype(), " and ", v.shape(), " ", v.dtype());
  const int64_t t = k.size(2);
  check(length_ + t <= max_length(), "kv_cache", "the cache holds ", length_, " of ", max_length(),
        " tokens; ", t, " more do not fit");
  narrow(keys_, 2, length_, t).copy_(k.detach());
  narrow(values_, 2, length_, t).copy_(v.detach());
  length_ += t;
}

void KVCache::truncate(int64_t length) {
  check(length >= 0 && length <= length_, "kv_cache", "cannot truncate ", length_, " tokens to ",
        length);
  length_ = length;
}

Tensor KVCache::keys() const { return narrow(keys_, 2, 0, length_); }

Tensor KVCache::values() const { return narrow(values_, 2, 0, length_); }

int64_t KVCache::bytes_at(int64_t length) const {
  return 2 * kv_cache_bytes(1, keys_.size(1), length, keys_.size(3), keys_.dtype(), keys_.size(0));
}

int64_t KVCache::bytes() const { return bytes_at(length_); }

int64_t KVCache::bytes_allocated() const { return bytes_at(max_length()); }

}  // namespace lookback::attention
