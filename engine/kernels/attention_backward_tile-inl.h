// Fused attention, backward, for one tile of query rows: the inner loops of
// attention_backward.cpp. Adds to dk and dv, writes dq.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_ATTENTION_BACKWARD_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ATTENTION_BACKWARD_TILE_INL_H_
#undef LOOKBACK_ATTENTION_BACKWARD_TILE_INL_H_
#else
#define LOOKBACK_ATTENTION_BACKWARD_TILE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "engine/kernels/attention_exp-inl.h"
#include "engine/kernels/attention_multiply-inl.h"
#include "engine/kernels/attention_problem.h"
#include "engine/kernels/attention_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sums of one segment for one (batch, key/value head) pair: rows are keys, padded to whole
// vectors.
template <class T>
struct KeyGradients {
  T* dk;  // (Tk, dk_row)
  T* dv;  // (Tk, dv_row)
  int64_t dk_row;
  int64_t dv_row;
};

template <class T>
class BackwardTile {
 public:
  BackwardTile(const AttentionGradients<T>& g, int64_t pair, int64_t first)
      : g_(g), in_(g.in), rows_(g.in, pair, first), width_(rows_.width()) {
    const int64_t d = in_.shape.d;
    const int64_t dv = in_.shape.dv;
    d_row_ = round_up(d, kLanes<T>);
    dv_row_ = round_up(dv, kLanes<T>);
    ScratchArrays<T> scratch(Scratch::kTile,
                             width_ * (2 * d + 2 * dv + d_row_ + dv_row_ + 2 + 2 * kKeyBlock), 10);
    q_ = scratch.take(d * width_);
    dq_ = scratch.take(d * width_);
    do_ = scratch.take(dv * width_);
    q_rows_ = scratch.take(width_ * d_row_);
    do_rows_ = scratch.take(width_ * dv_row_);
    lse_ = scratch.take(width_);
    D_ = scratch.take(width_);
    p_ = scratch.take(kKeyBlock * width_);
    ds_ = scratch.take(kKeyBlock * width_);
    load_queries();
    load_output_gradients(scratch.take(dv * width_));
  }

  void attend(const KeyGradients<T>& sums) {
    const KeyRange keys = rows_.keys();
    for (int64_t j = keys.begin / kKeyBlock * kKeyBlock; j < keys.end; j += kKeyBlock) {
      attend_block({j, j + kKeyBlock}, sums);
    }
  }

  void write_dq() {
    scale_all(dq_);
    T* rows[kTileRows<T>];
    rows_.rows_of(g_.dq, rows);
    store_transposed(dq_, width_, rows_.count(), in_.shape.d, rows);
  }

 private:
  void attend_block(KeyRange block, const KeyGradients<T>& sums) {
    Part parts[3 * kTileVectors / 2];
    int64_t count = 0;
    for (int64_t lane = 0; lane < width_; lane += 2 * kLanes<T>) {
      Part split[3];
      const int64_t added = rows_.split(lane, block, split);
      for (int64_t n = 0; n < added; ++n) parts[count++] = split[n];
    }
    for (int64_t n = 0; n < count; ++n) weigh(parts[n], block.begin);
    // Where all rows see the same keys, one product serves them all.
    const KeyRange first = rows_.keys_of_vector(0, block);
    const KeyRange last = rows_.keys_of_vector(width_ - kLanes<T>, block);
    if (first.begin == last.begin && first.end == last.end) {
      parts[0] = {0, rows_.vectors(), first};
      count = 1;
    }
    for (int64_t n = 0; n < count; ++n) add_to_keys(parts[n], block.begin, sums);
  }

  void scale_all(T* x) const {
    const auto scale = hn::Set(d_, static_cast<T>(in_.shape.scale));
    for (int64_t n = 0; n < in_.shape.d * width_; n += kLanes<T>) {
      hn::Store(hn::Mul(hn::Load(d_, x + n), scale), d_, x + n);
    }
  }

  void load_queries() {
    const T* rows[kTileRows<T>];
    rows_.rows_of(in_.q, rows);
    load_transposed(rows, width_, in_.shape.d, q_);
    scale_all(q_);
    copy_rows(rows, static_cast<T>(in_.shape.scale), in_.shape.d, d_row_, q_rows_);
    q_nonfinite_ = holds_nonfinite(q_rows_, width_, d_row_, d_row_);
    std::fill(dq_, dq_ + in_.shape.d * width_, T{0});
  }

  // do, lse and D; `out` is room for the transposed output.
  void load_output_gradients(T* out) {
    const int64_t dv = in_.shape.dv;
    const T* rows[kTileRows<T>];
    rows_.rows_of(g_.out, rows);
    load_transposed(rows, width_, dv, out);
    rows_.rows_of(g_.dout, rows);
    load_transposed(rows, width_, dv, do_);
    copy_rows(rows, T{1}, dv, dv_row_, do_rows_);
    dv_nonfinite_ = holds_nonfinite(do_rows_, width_, dv_row_, dv_row_);
    for (int64_t n = 0; n < width_; n += kLanes<T>) {
      auto sum = hn::Zero(d_);
      for (int64_t c = n; c < dv * width_; c += width_) {
        sum = hn::MulAdd(hn::Load(d_, do_ + c), hn::Load(d_, out + c), sum);
      }
      hn::Store(sum, d_, D_ + n);
    }
    for (int64_t n = 0; n < width_; ++n) {
      const Place& at = rows_.place(n);
      const T lse = g_.lse[(at.b * in_.shape.heads + at.h) * in_.shape.Tq + at.i];
      // A row without keys: exp(-infinity - 0) = 0 for all that is hidden from it.
      lse_[n] = lse == -kInfinity<T> ? T{0} : lse;
      dv_nonfinite_ = dv_nonfinite_ || !std::isfinite(lse_[n]);
    }
  }

  void copy_rows(const T* const* rows, T factor, int64_t size, int64_t stride, T* to) const {
    for (int64_t n = 0; n < width_; ++n, to += stride) {
      for (int64_t c = 0; c < size; ++c) to[c] = factor * rows[n][c];
      std::fill(to + size, to + stride, T{0});
    }
  }

  // p and ds of the part, in a tile whose first row is key `block`; dq += ds k.
  void weigh(const Part& part, int64_t block) {
    const AttentionShape& shape = in_.shape;
    const Place& at = rows_.place(0);
    const int64_t count = part.key_count();
    const T* k = row_of(in_.k, at.b, at.g, part.keys.begin);
    const T* v = row_of(in_.v, at.b, at.g, part.keys.begin);
    T* p = p_ + (part.keys.begin - block) * width_ + part.lane;
    T* ds = ds_ + (part.keys.begin - block) * width_ + part.lane;
    const bool hides = rows_.hides(part);
    // s in the place of p, and do v^T in the place of ds.
    multiply<T>({.M = count,
                 .N = part.vectors,
                 .K = shape.d,
                 .a = k,
                 .a_row = in_.k.time_stride,
                 .a_col = 1,
                 .b = q_ + part.lane,
                 .b_row = width_,
                 .c = p,
                 .c_row = width_});
    multiply<T>({.M = count,
                 .N = part.vectors,
                 .K = shape.dv,
                 .a = v,
                 .a_row = in_.v.time_stride,
                 .a_col = 1,
                 .b = do_ + part.lane,
                 .b_row = width_,
                 .c = ds,
                 .c_row = width_});
    if (hides) rows_.hide(part, -kInfinity<T>, p, width_);
    exponentiate(part, p, ds);
    if (hides) rows_.hide(part, kHidden<T>, ds, width_);
    if (hides && dv_nonfinite_) rows_.hide(part, kHidden<T>, p, width_);
    multiply_where(hides && holds_nonfinite(k, count, shape.d, in_.k.time_stride), HiddenIn::kB,
                   {.M = shape.d,
                    .N = part.vectors,
                    .K = count,
                    .a = k,
                    .a_row = 1,
                    .a_col = in_.k.time_stride,
                    .b = ds,
                    .b_row = width_,
                    .c = dq_ + part.lane,
                    .c_row = width_,
                    .accumulate = true});
  }

  // p = exp(s - lse),  ds = p (do v^T - D)
  void exponentiate(const Part& part, T* p, T* ds) const {
    for (int64_t n = 0; n < part.vectors * kLanes<T>; n += kLanes<T>) {
      const auto lse = hn::Load(d_, lse_ + part.lane + n);
      const auto D = hn::Load(d_, D_ + part.lane + n);
      for (int64_t j = n; j < n + part.key_count() * width_; j += width_) {
        const auto weight = exp_nonpositive(d_, hn::Sub(hn::Load(d_, p + j), lse));
        hn::Store(weight, d_, p + j);
        hn::Store(hn::Mul(weight, hn::Sub(hn::Load(d_, ds + j), D)), d_, ds + j);
      }
    }
  }

  // dk += ds^T q,  dv += p^T do
  void add_to_keys(const Part& part, int64_t block, const KeyGradients<T>& sums) {
    const int64_t queries = std::min(part.vectors * kLanes<T>, rows_.count() - part.lane);
    const int64_t first = (part.keys.begin - block) * width_ + part.lane;
    const bool hides = rows_.hides(part);
    multiply_where(hides && q_nonfinite_, HiddenIn::kA,
                   {.M = part.key_count(),
                    .N = d_row_ / kLanes<T>,
                    .K = queries,
                    .a = ds_ + first,
                    .a_row = width_,
                    .a_col = 1,
                    .b = q_rows_ + part.lane * d_row_,
                    .b_row = d_row_,
                    .c = sums.dk + part.keys.begin * d_row_,
                    .c_row = d_row_,
                    .accumulate = true});
    multiply_where(hides && dv_nonfinite_, HiddenIn::kA,
                   {.M = part.key_count(),
                    .N = dv_row_ / kLanes<T>,
                    .K = queries,
                    .a = p_ + first,
                    .a_row = width_,
                    .a_col = 1,
                    .b = do_rows_ + part.lane * dv_row_,
                    .b_row = dv_row_,
                    .c = sums.dv + part.keys.begin * dv_row_,
                    .c_row = dv_row_,
                    .accumulate = true});
  }

  static void multiply_where(bool hidden_matters, HiddenIn hidden_in, const Product<T>& product) {
    if (hidden_matters) {
      multiply_visible(product, hidden_in);
    } else {
      multiply(product);
    }
  }

  const hn::ScalableTag<T> d_{};
  const AttentionGradients<T>& g_;
  const AttentionInputs<T>& in_;
  QueryTile<T> rows_;
  int64_t width_;
  int64_t d_row_;  // d, dv as whole vectors
  int64_t dv_row_;
  bool q_nonfinite_;
  bool dv_nonfinite_;  // an output gradient, or a weight
  T* q_;               // (d, rows), scaled
  T* dq_;              // (d, rows), to be scaled
  T* do_;              // (dv, rows)
  T* q_rows_;          // (rows, d), scaled
  T* do_rows_;         // (rows, dv)
  T* lse_;             // (rows)
  T* D_;               // (rows)
  T* p_;               // (keys of a block, rows)
  T* ds_;              // (keys of a block, rows)
};

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ATTENTION_BACKWARD_TILE_INL_H_
