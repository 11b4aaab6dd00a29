// Fused attention, backward: the weights are made again, block by block, from the scores and the
// logarithm of each row's sum (Dao et al. 2022, algorithm 4). Five products per block.
//
//   for each tile of queries                          D = sum_c do_c o_c, one number per row
//     for each block of keys that the tile sees
//       p  = exp(scale q k^T - lse)                   0 where hidden
//       ds = p (do v^T - D)
//       dq += scale ds k,   dk += scale ds^T q,   dv += p^T do
//
// Same bits: dq is a sum over keys in their order. dk and dv are sums over queries, which all
// tiles add to; so the tiles are dealt to a fixed number of segments, each segment has sums of
// its own, which its tiles add to in their order, and the segments are added up in their order.
// Which thread takes a segment then does not matter.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include <algorithm>

#include "engine/kernels/attention.h"
#include "engine/kernels/attention_exp-inl.h"
#include "engine/kernels/attention_multiply-inl.h"
#include "engine/kernels/attention_problem.h"
#include "engine/kernels/attention_tile-inl.h"
#include "engine/kernels/threads.h"

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
    do_nonfinite_ = holds_nonfinite(do_rows_, width_, dv_row_, dv_row_);
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
    multiply<T>({count, part.vectors, shape.d, k, in_.k.time_stride, 1, q_ + part.lane, width_, p,
                 width_, /*accumulate=*/false});
    multiply<T>({count, part.vectors, shape.dv, v, in_.v.time_stride, 1, do_ + part.lane, width_,
                 ds, width_, /*accumulate=*/false});
    if (hides) rows_.hide(part, -kInfinity<T>, p, width_);
    for (int64_t n = 0; n < part.vectors * kLanes<T>; n += kLanes<T>) {
      const auto lse = hn::Load(d_, lse_ + part.lane + n);
      const auto D = hn::Load(d_, D_ + part.lane + n);
      for (int64_t j = n; j < n + count * width_; j += width_) {
        const auto weight = exp_nonpositive(d_, hn::Sub(hn::Load(d_, p + j), lse));
        hn::Store(weight, d_, p + j);
        hn::Store(hn::Mul(weight, hn::Sub(hn::Load(d_, ds + j), D)), d_, ds + j);
      }
    }
    if (hides) rows_.hide(part, kHidden<T>, ds, width_);
    if (hides && do_nonfinite_) rows_.hide(part, kHidden<T>, p, width_);
    multiply_where(hides && holds_nonfinite(k, count, shape.d, in_.k.time_stride), HiddenIn::kB,
                   {shape.d, part.vectors, count, k, 1, in_.k.time_stride, ds, width_,
                    dq_ + part.lane, width_, /*accumulate=*/true});
  }

  // dk += ds^T q,  dv += p^T do
  void add_to_keys(const Part& part, int64_t block, const KeyGradients<T>& sums) {
    const int64_t queries = std::min(part.vectors * kLanes<T>, rows_.count() - part.lane);
    const int64_t first = (part.keys.begin - block) * width_ + part.lane;
    const T* q = q_rows_ + part.lane * d_row_;
    const T* dout = do_rows_ + part.lane * dv_row_;
    const bool hides = rows_.hides(part);
    multiply_where(hides && q_nonfinite_, HiddenIn::kA,
                   {part.key_count(), d_row_ / kLanes<T>, queries, ds_ + first, width_, 1, q,
                    d_row_, sums.dk + part.keys.begin * d_row_, d_row_, /*accumulate=*/true});
    multiply_where(hides && do_nonfinite_, HiddenIn::kA,
                   {part.key_count(), dv_row_ / kLanes<T>, queries, p_ + first, width_, 1, dout,
                    dv_row_, sums.dv + part.keys.begin * dv_row_, dv_row_, /*accumulate=*/true});
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
  bool do_nonfinite_;
  T* q_;        // (d, rows), scaled
  T* dq_;       // (d, rows), to be scaled
  T* do_;       // (dv, rows)
  T* q_rows_;   // (rows, d), scaled
  T* do_rows_;  // (rows, dv)
  T* lse_;      // (rows)
  T* D_;        // (rows)
  T* p_;        // (keys of a block, rows)
  T* ds_;       // (keys of a block, rows)
};

// The tiles of one segment, one after the other.
template <class T>
void run_segment(const AttentionGradients<T>& g, int64_t pair, int64_t segment,
                 const KeyGradients<T>& sums) {
  const AttentionShape& shape = g.in.shape;
  std::fill(sums.dk, sums.dk + shape.Tk * sums.dk_row, T{0});
  std::fill(sums.dv, sums.dv + shape.Tk * sums.dv_row, T{0});
  for (int64_t n = 0; n * kTileRows<T> < g.in.rows(); ++n) {
    if (g.segment_of(n) != segment) continue;
    BackwardTile<T> tile(g, pair, n * kTileRows<T>);
    tile.attend(sums);
    tile.write_dq();
  }
}

// Adds one segment's sums for the keys [begin, end) to dk and dv; the first one overwrites them.
template <class T>
void add_segment(const AttentionGradients<T>& g, int64_t pair, const KeyGradients<T>& sums,
                 bool first, int64_t begin, int64_t end) {
  const auto add = [first](const T* from, int64_t size, T* to) {
    for (int64_t c = 0; c < size; ++c) to[c] = first ? from[c] : to[c] + from[c];
  };
  const Place at = place_of(g.in, pair, 0);
  for (int64_t j = begin; j < end; ++j) {
    add(sums.dk + j * sums.dk_row, g.in.shape.d, row_of(g.dk, at.b, at.g, j));
    add(sums.dv + j * sums.dv_row, g.in.shape.dv, row_of(g.dv, at.b, at.g, j));
  }
}

template <class T>
void backward(const AttentionGradients<T>& g) {
  const AttentionShape& shape = g.in.shape;
  const int64_t dk_row = round_up(shape.d, kLanes<T>);
  const int64_t dv_row = round_up(shape.dv, kLanes<T>);
  const auto take_sums = [&](ScratchArrays<T>& scratch) -> KeyGradients<T> {
    T* dk = scratch.take(shape.Tk * dk_row);
    return {dk, scratch.take(shape.Tk * dv_row), dk_row, dv_row};
  };
  const int64_t size = shape.Tk * (dk_row + dv_row);
  const int64_t S = g.segments();

  if (S == 1 || g.in.pairs() % num_threads() == 0 || g.in.pairs() > 3 * num_threads()) {
    // Enough pairs for all threads: one needs room for one segment at a time.
    parallel_for(g.in.pairs(), g.in.grain(g.in.rows()), [&](int64_t begin, int64_t end) {
      ScratchArrays<T> scratch(Scratch::kGradients, size, 2);
      const KeyGradients<T> sums = take_sums(scratch);
      for (int64_t pair = begin; pair < end; ++pair) {
        for (int64_t s = 0; s < S; ++s) {
          run_segment(g, pair, s, sums);
          add_segment(g, pair, sums, s == 0, 0, shape.Tk);
        }
      }
    });
    return;
  }
  ScratchArrays<T> scratch(Scratch::kGradients, S * size, 2 * S);
  KeyGradients<T> sums[AttentionGradients<T>::kMaxSegments];
  for (int64_t s = 0; s < S; ++s) sums[s] = take_sums(scratch);
  for (int64_t pair = 0; pair < g.in.pairs(); ++pair) {
    parallel_for(S, 1, [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) run_segment(g, pair, s, sums[s]);
    });
    parallel_for(shape.Tk, 256, [&](int64_t begin, int64_t end) {
      for (int64_t s = 0; s < S; ++s) add_segment(g, pair, sums[s], s == 0, begin, end);
    });
  }
}

void BackwardF32(const AttentionGradients<float>& g) { backward(g); }

void BackwardF64(const AttentionGradients<double>& g) { backward(g); }

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {

HWY_EXPORT(BackwardF32);
HWY_EXPORT(BackwardF64);

void attention_backward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                        Operand<float> v, MayAttend mask, Operand<float> out, const float* lse,
                        Operand<float> dout, MutableOperand<float> dq, MutableOperand<float> dk,
                        MutableOperand<float> dv) {
  HWY_DYNAMIC_DISPATCH(BackwardF32)({{shape, q, k, v, mask}, out, lse, dout, dq, dk, dv});
}

void attention_backward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                        Operand<double> v, MayAttend mask, Operand<double> out, const double* lse,
                        Operand<double> dout, MutableOperand<double> dq, MutableOperand<double> dk,
                        MutableOperand<double> dv) {
  HWY_DYNAMIC_DISPATCH(BackwardF64)({{shape, q, k, v, mask}, out, lse, dout, dq, dk, dv});
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
