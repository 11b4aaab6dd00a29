// Attention of one query, or of few heads of one query, as when text is generated token by token:
// the loops of attention_forward.cpp with keys, not queries, in the lanes, which one query would
// leave empty. Every sum runs in the same order, so that the bits are those of the full pass.
//
//   for each block of keys that the query sees
//     s = scale q k^T                       k^T is a transposed copy
//     m' = max(m, max s),  p = exp(s - m')
//     l = exp(m - m') l + sum p,  o = exp(m - m') o + p v
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_ATTENTION_DECODE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ATTENTION_DECODE_INL_H_
#undef LOOKBACK_ATTENTION_DECODE_INL_H_
#else
#define LOOKBACK_ATTENTION_DECODE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/kernels/attention_exp-inl.h"
#include "engine/kernels/attention_multiply-inl.h"
#include "engine/kernels/attention_problem.h"
#include "engine/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Keys that are transposed together.
template <class T>
inline constexpr int64_t kKeysAtOnce = 2 * kLanes<T>;

template <class T>
class Decode {
 public:
  // Worth it while most lanes of a tile of rows would be empty; values must fill whole vectors.
  static bool serves(const AttentionInputs<T>& in) {
    return in.shape.Tq == 1 && in.rows() * 4 <= kLanes<T> && in.shape.dv % kLanes<T> == 0;
  }

  Decode(const AttentionInputs<T>& in, int64_t pair)
      : in_(in), at_(place_of(in, pair, 0)), count_(in.rows()) {
    const AttentionShape& shape = in.shape;
    ScratchArrays<T> scratch(
        Scratch::kTile, shape.d * (kKeysAtOnce<T> + count_) + count_ * (kKeyBlock + shape.dv + 2),
        6);
    k_ = scratch.take(shape.d * kKeysAtOnce<T>);
    q_ = scratch.take(shape.d * count_);
    s_ = scratch.take(kKeyBlock * count_);
    o_ = scratch.take(shape.dv * count_);
    m_ = scratch.take(count_);
    l_ = scratch.take(count_);
    for (int64_t n = 0; n < count_; ++n) {
      const T* q = row_of(in.q, at_.b, at_.h + n, 0);
      for (int64_t c = 0; c < shape.d; ++c) {
        q_[n * shape.d + c] = q[c] * static_cast<T>(shape.scale);
      }
    }
    std::fill(o_, o_ + shape.dv * count_, T{0});
    std::fill(m_, m_ + count_, -kInfinity<T>);
    std::fill(l_, l_ + count_, T{0});
  }

  void attend() {
    const KeyRange keys = visible_keys(in_.shape, 0);
    for (int64_t j = keys.begin / kKeyBlock * kKeyBlock; j < keys.end; j += kKeyBlock) {
      const KeyRange block = intersect(keys, {j, j + kKeyBlock});
      scores(block);
      for (int64_t n = 0; n < count_; ++n) softmax(n, block.end - block.begin);
      add_values(block);
    }
  }

  void write(MutableOperand<T> out, T* lse) {
    for (int64_t n = 0; n < count_; ++n) {
      l_[n] = weight_sum(in_, {at_.b, at_.g, at_.h + n, 0}, l_[n]);
      const auto divisor = hn::Set(d_, l_[n] == 0 ? T{1} : l_[n]);
      T* to = row_of(out, at_.b, at_.h + n, 0);
      for (int64_t c = 0; c < in_.shape.dv; c += kLanes<T>) {
        const auto o = hn::Load(d_, o_ + n * in_.shape.dv + c);
        hn::StoreU(hn::Add(hn::Div(o, divisor), hn::Zero(d_)), d_, to + c);
      }
      lse[at_.b * in_.shape.heads + at_.h + n] = log_sum(m_[n], l_[n]);
    }
  }

 private:
  // s = scale q k^T, -infinity where hidden and beyond the last key. Few keys are transposed at a
  // time: they stay in the nearest cache.
  void scores(KeyRange keys) {
    const int64_t count = keys.end - keys.begin;
    for (int64_t j = 0; j < count; j += kKeysAtOnce<T>) {
      const int64_t width = std::min(round_up(count - j, kLanes<T>), kKeysAtOnce<T>);
      const T* rows[kKeysAtOnce<T>];
      for (int64_t n = 0; n < width; ++n) {
        rows[n] = row_of(in_.k, at_.b, at_.g, std::min(keys.begin + j + n, keys.end - 1));
      }
      load_transposed(rows, width, in_.shape.d, k_);
      multiply<T>({.M = count_,
                   .N = width / kLanes<T>,
                   .K = in_.shape.d,
                   .a = q_,
                   .a_row = in_.shape.d,
                   .a_col = 1,
                   .b = k_,
                   .b_row = width,
                   .c = s_ + j,
                   .c_row = kKeyBlock});
    }
    for (int64_t n = 0; n < count_; ++n) {
      T* s = s_ + n * kKeyBlock;
      std::fill(s + count, s + round_up(count, kLanes<T>), -kInfinity<T>);
    }
    hide(keys, -kInfinity<T>);
  }

  void hide(KeyRange keys, T value) {
    if (in_.mask.data == nullptr) return;
    for (int64_t n = 0; n < count_; ++n) {
      const uint8_t* may_attend = in_.mask.data + at_.b * in_.mask.batch_stride +
                                  (at_.h + n) * in_.mask.head_stride +
                                  keys.begin * in_.mask.key_stride;
      T* s = s_ + n * kKeyBlock;
      for (int64_t j = 0; j < keys.end - keys.begin; ++j) {
        s[j] = may_attend[j * in_.mask.key_stride] != 0 ? s[j] : value;
      }
    }
  }

  // p = exp(s - m), in the place of s, for row n.
  void softmax(int64_t n, int64_t count) {
    T* s = s_ + n * kKeyBlock;
    auto largest = hn::Set(d_, m_[n]);
    for (int64_t j = 0; j < count; j += kLanes<T>) largest = hn::Max(largest, hn::Load(d_, s + j));
    const T old_max = m_[n];
    m_[n] = hn::GetLane(hn::MaxOfLanes(d_, largest));
    const auto max = hn::Set(d_, m_[n] == -kInfinity<T> ? T{0} : m_[n]);
    for (int64_t j = 0; j < count; j += kLanes<T>) {
      hn::Store(exp_nonpositive(d_, hn::Sub(hn::Load(d_, s + j), max)), d_, s + j);
    }
    T sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += s[j];
    const auto shrink = exp_nonpositive(d_, hn::Sub(hn::Set(d_, old_max), max));
    l_[n] = hn::GetLane(hn::MulAdd(hn::Set(d_, l_[n]), shrink, hn::Set(d_, sum)));
    for (T* o = o_ + n * in_.shape.dv; o < o_ + (n + 1) * in_.shape.dv; o += kLanes<T>) {
      hn::Store(hn::Mul(hn::Load(d_, o), shrink), d_, o);
    }
  }

  // o += p v
  void add_values(KeyRange keys) {
    const int64_t count = keys.end - keys.begin;
    const int64_t stride = in_.v.time_stride;
    const T* v = row_of(in_.v, at_.b, at_.g, keys.begin);
    const Product<T> product{.M = count_,
                             .N = in_.shape.dv / kLanes<T>,
                             .K = count,
                             .a = s_,
                             .a_row = kKeyBlock,
                             .a_col = 1,
                             .b = v,
                             .b_row = stride,
                             .c = o_,
                             .c_row = in_.shape.dv,
                             .accumulate = true};
    if (in_.mask.data != nullptr && holds_nonfinite(v, count, in_.shape.dv, stride)) {
      hide(keys, kHidden<T>);
      multiply_visible(product, HiddenIn::kA);
    } else {
      multiply(product);
    }
  }

  const hn::ScalableTag<T> d_{};
  const AttentionInputs<T>& in_;
  Place at_;
  int64_t count_;  // rows: the query heads of one key/value head
  T* k_;           // (d, keys at once)
  T* q_;           // (rows, d), scaled
  T* s_;           // (rows, keys of a block)
  T* o_;           // (rows, dv)
  T* m_;           // (rows)
  T* l_;           // (rows)
};

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ATTENTION_DECODE_INL_H_
