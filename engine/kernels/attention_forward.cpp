// Fused attention, forward: one pass over the keys for a tile of queries, no T x T matrix
// (online softmax: Milakov & Gimelshein 2018; blocks: Dao et al. 2022, algorithm 1).
//
//   for each tile of queries                          in parallel
//     for each block of keys that the tile sees       in order; m, l, o live on
//       s = scale q k^T                               -infinity where hidden
//       m' = max(m, max s),  p = exp(s - m')
//       l = exp(m - m') l + sum p,  o = exp(m - m') o + p v
//     out = o / l,  lse = m + log l
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/attention_forward.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include <algorithm>

#include "engine/kernels/attention.h"
#include "engine/kernels/attention_decode-inl.h"
#include "engine/kernels/attention_exp-inl.h"
#include "engine/kernels/attention_multiply-inl.h"
#include "engine/kernels/attention_problem.h"
#include "engine/kernels/attention_tile-inl.h"
#include "engine/kernels/threads.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
class ForwardTile {
 public:
  ForwardTile(const AttentionInputs<T>& in, int64_t pair, int64_t first)
      : in_(in), rows_(in, pair, first), width_(rows_.width()) {
    const AttentionShape& shape = in.shape;
    ScratchArrays<T> scratch(Scratch::kTile,
                             width_ * (shape.d + shape.dv + 2) + kKeyBlock * kScoreRow, 5);
    q_ = scratch.take(shape.d * width_);
    o_ = scratch.take(shape.dv * width_);
    m_ = scratch.take(width_);
    l_ = scratch.take(width_);
    s_ = scratch.take(kKeyBlock * kScoreRow);

    const T* rows[kTileRows<T>];
    rows_.rows_of(in.q, rows);
    load_transposed(rows, width_, shape.d, q_);
    const auto scale = hn::Set(d_, static_cast<T>(shape.scale));
    for (int64_t n = 0; n < shape.d * width_; n += kLanes<T>) {
      hn::Store(hn::Mul(hn::Load(d_, q_ + n), scale), d_, q_ + n);
    }
    std::fill(o_, o_ + shape.dv * width_, T{0});
    std::fill(m_, m_ + width_, -kInfinity<T>);
    std::fill(l_, l_ + width_, T{0});
  }

  void attend() {
    const KeyRange keys = rows_.keys();
    for (int64_t j = keys.begin / kKeyBlock * kKeyBlock; j < keys.end; j += kKeyBlock) {
      for (int64_t lane = 0; lane < width_; lane += kScoreRow) {
        attend_block(lane, {j, j + kKeyBlock});
      }
    }
  }

  void write(MutableOperand<T> out, T* lse) {
    for (int64_t n = 0; n < width_; ++n) l_[n] = weight_sum(in_, rows_.place(n), l_[n]);
    for (int64_t n = 0; n < width_; n += kLanes<T>) {
      const auto l = hn::Load(d_, l_ + n);
      const auto divisor = hn::IfThenElse(hn::Eq(l, hn::Zero(d_)), hn::Set(d_, T{1}), l);
      for (T* o = o_ + n; o < o_ + in_.shape.dv * width_; o += width_) {
        // + 0 turns a -0, which depends on how many zeros were added, into 0.
        hn::Store(hn::Add(hn::Div(hn::Load(d_, o), divisor), hn::Zero(d_)), d_, o);
      }
    }
    T* rows[kTileRows<T>];
    rows_.rows_of(out, rows);
    store_transposed(o_, width_, rows_.count(), in_.shape.dv, rows);
    for (int64_t n = 0; n < rows_.count(); ++n) {
      const Place& at = rows_.place(n);
      lse[(at.b * in_.shape.heads + at.h) * in_.shape.Tq + at.i] = log_sum(m_[n], l_[n]);
    }
  }

 private:
  // Two vectors of rows, from `lane` on, against the keys of one block.
  void attend_block(int64_t lane, KeyRange block) {
    Part parts[3];
    const int64_t count = rows_.split(lane, block, parts);
    for (int64_t n = 0; n < count; ++n) scores(parts[n], scores_at(parts[n], lane, block));
    for (int64_t n = lane; n < std::min(lane + kScoreRow, width_); n += kLanes<T>) {
      const KeyRange keys = rows_.keys_of_vector(n, block);
      T* first = s_ + (keys.begin - block.begin) * kScoreRow + n - lane;
      if (keys.begin < keys.end) softmax(n, first, first + (keys.end - keys.begin) * kScoreRow);
    }
    for (int64_t n = 0; n < count; ++n) add_values(parts[n], scores_at(parts[n], lane, block));
  }

  T* scores_at(const Part& part, int64_t lane, KeyRange block) {
    return s_ + (part.keys.begin - block.begin) * kScoreRow + part.lane - lane;
  }

  // s = scale q k^T
  void scores(const Part& part, T* s) {
    const Place& at = rows_.place(0);
    const T* k = row_of(in_.k, at.b, at.g, part.keys.begin);
    multiply<T>({.M = part.key_count(),
                 .N = part.vectors,
                 .K = in_.shape.d,
                 .a = k,
                 .a_row = in_.k.time_stride,
                 .a_col = 1,
                 .b = q_ + part.lane,
                 .b_row = width_,
                 .c = s,
                 .c_row = kScoreRow});
    if (rows_.hides(part)) rows_.hide(part, -kInfinity<T>, s, kScoreRow);
  }

  // p = exp(s - m), in the place of s, for one vector of rows; m and l move on, o is scaled.
  void softmax(int64_t lane, T* s_begin, const T* s_end) {
    using V = hn::Vec<decltype(d_)>;
    const V old_max = hn::Load(d_, m_ + lane);
    V max = old_max;
    for (const T* s = s_begin; s < s_end; s += kScoreRow) max = hn::Max(max, hn::Load(d_, s));
    hn::Store(max, d_, m_ + lane);
    // A row that has seen no key yet: all its weights are to be exp(-infinity - 0) = 0.
    max = hn::IfThenZeroElse(hn::Eq(max, hn::Set(d_, -kInfinity<T>)), max);

    V sum = hn::Zero(d_);
    for (T* s = s_begin; s < s_end; s += kScoreRow) {
      const V p = exp_nonpositive(d_, hn::Sub(hn::Load(d_, s), max));
      hn::Store(p, d_, s);
      sum = hn::Add(sum, p);
    }
    const V shrink = exp_nonpositive(d_, hn::Sub(old_max, max));
    hn::Store(hn::MulAdd(hn::Load(d_, l_ + lane), shrink, sum), d_, l_ + lane);
    if (hn::AllTrue(d_, hn::Eq(shrink, hn::Set(d_, T{1})))) return;
    for (T* o = o_ + lane; o < o_ + in_.shape.dv * width_; o += width_) {
      hn::Store(hn::Mul(hn::Load(d_, o), shrink), d_, o);
    }
  }

  // o += p v
  void add_values(const Part& part, T* p) {
    const Place& at = rows_.place(0);
    const int64_t stride = in_.v.time_stride;
    const T* v = row_of(in_.v, at.b, at.g, part.keys.begin);
    const Product<T> product{.M = in_.shape.dv,
                             .N = part.vectors,
                             .K = part.key_count(),
                             .a = v,
                             .a_row = 1,
                             .a_col = stride,
                             .b = p,
                             .b_row = kScoreRow,
                             .c = o_ + part.lane,
                             .c_row = width_,
                             .accumulate = true};
    if (rows_.hides(part) && holds_nonfinite(v, part.key_count(), in_.shape.dv, stride)) {
      rows_.hide(part, kHidden<T>, p, kScoreRow);
      multiply_visible(product, HiddenIn::kB);
    } else {
      multiply(product);
    }
  }

  static constexpr int64_t kScoreRow = 2 * kLanes<T>;
  const hn::ScalableTag<T> d_{};
  const AttentionInputs<T>& in_;
  QueryTile<T> rows_;
  int64_t width_;
  T* q_;  // (d, rows), scaled
  T* o_;  // (dv, rows)
  T* m_;  // (rows): the largest score so far
  T* l_;  // (rows): the sum of exp(s - m) so far
  T* s_;  // (keys of a block, two vectors of rows): scores, then weights
};

template <class T>
void forward(const AttentionInputs<T>& in, MutableOperand<T> out, T* lse) {
  const int64_t tiles = (in.rows() + kTileRows<T> - 1) / kTileRows<T>;
  parallel_for(in.pairs() * tiles, in.grain(kTileRows<T>), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      if (Decode<T>::serves(in)) {
        Decode<T> query(in, n);
        query.attend();
        query.write(out, lse);
      } else {
        ForwardTile<T> tile(in, n / tiles, balanced(n % tiles, tiles) * kTileRows<T>);
        tile.attend();
        tile.write(out, lse);
      }
    }
  });
}

void ForwardF32(const AttentionInputs<float>& in, MutableOperand<float> out, float* lse) {
  forward(in, out, lse);
}

void ForwardF64(const AttentionInputs<double>& in, MutableOperand<double> out, double* lse) {
  forward(in, out, lse);
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {

HWY_EXPORT(ForwardF32);
HWY_EXPORT(ForwardF64);

void attention_forward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                       Operand<float> v, MayAttend mask, MutableOperand<float> out, float* lse) {
  HWY_DYNAMIC_DISPATCH(ForwardF32)({shape, q, k, v, mask}, out, lse);
}

void attention_forward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                       Operand<double> v, MayAttend mask, MutableOperand<double> out, double* lse) {
  HWY_DYNAMIC_DISPATCH(ForwardF64)({shape, q, k, v, mask}, out, lse);
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
