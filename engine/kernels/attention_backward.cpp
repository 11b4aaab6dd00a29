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
#include "engine/kernels/attention_backward_tile-inl.h"
#include "engine/kernels/attention_problem.h"
#include "engine/kernels/attention_tile-inl.h"
#include "engine/kernels/threads.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
