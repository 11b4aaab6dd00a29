// Blockwise ("flash") attention: softmax(scale q k^T) v without the T x T matrix, and its
// gradient (Dao et al. 2022; online softmax: Milakov & Gimelshein 2018).
//
// Legend: B batch, H query heads, G key/value heads, r = H / G, Tq queries, Tk keys, d width of
// a query or key, dv width of a value. Key/value head g serves query heads g*r ... g*r + r - 1.
//
// Which keys: query i stands at position p = i + (Tk - Tq), so that the last query sees every
// key. Causal: keys j <= p. Window W: keys p - W < j <= p. A mask removes further ones. What a
// query may not attend is never read into its result: NaN or infinity there cannot leak, neither
// forward nor backward. A query with no key at all: output 0, lse -infinity, gradients 0.
//
// Same bits: an output row depends on its own query and on the keys that it sees, and on nothing
// else: not on the other queries, batch, heads, later keys, or threads. Gradients do not depend
// on batch or threads. Weights below the smallest normal number count as 0.
#pragma once

#include <cstdint>

namespace lookback::kernels {

struct AttentionShape {
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;  // divides heads
  int64_t Tq;
  int64_t Tk;
  int64_t d;
  int64_t dv;
  double scale;    // of the scores; usually 1 / sqrt(d)
  bool causal;     // implied by a window
  int64_t window;  // keys that a query sees, itself included; 0: no window
};

// A (B, H or G, T, d) array whose last dimension is contiguous. Strides count elements.
template <class T>
struct Operand {
  const T* data;
  int64_t batch_stride;
  int64_t head_stride;
  int64_t time_stride;
};

// The same, to write to; it must not overlap anything else.
template <class T>
struct MutableOperand {
  T* data;
  int64_t batch_stride;
  int64_t head_stride;
  int64_t time_stride;
};

// A (B, H, Tq, Tk) array of booleans, nonzero = may attend. Strides may be 0. No data: no mask.
struct MayAttend {
  const uint8_t* data;
  int64_t batch_stride;
  int64_t head_stride;
  int64_t query_stride;
  int64_t key_stride;
};

// What forward leaves for backward: out (B, H, Tq, dv) and lse (B, H, Tq), contiguous, the
// logarithm of the sum of exp(score) in each row.
void attention_forward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                       Operand<float> v, MayAttend mask, MutableOperand<float> out, float* lse);
void attention_forward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                       Operand<double> v, MayAttend mask, MutableOperand<double> out, double* lse);

// Overwrites dq, dk, dv with the gradients of a loss whose gradient by `out` is dout.
void attention_backward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                        Operand<float> v, MayAttend mask, Operand<float> out, const float* lse,
                        Operand<float> dout, MutableOperand<float> dq, MutableOperand<float> dk,
                        MutableOperand<float> dv);
void attention_backward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                        Operand<double> v, MayAttend mask, Operand<double> out, const double* lse,
                        Operand<double> dout, MutableOperand<double> dq, MutableOperand<double> dk,
                        MutableOperand<double> dv);

// The plain twins: one row at a time, as in the textbook.
void attention_forward_reference(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                                 Operand<float> v, MayAttend mask, MutableOperand<float> out,
                                 float* lse);
void attention_forward_reference(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                                 Operand<double> v, MayAttend mask, MutableOperand<double> out,
                                 double* lse);
void attention_backward_reference(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                                  Operand<float> v, MayAttend mask, Operand<float> out,
                                  const float* lse, Operand<float> dout, MutableOperand<float> dq,
                                  MutableOperand<float> dk, MutableOperand<float> dv);
void attention_backward_reference(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                                  Operand<double> v, MayAttend mask, Operand<double> out,
                                  const double* lse, Operand<double> dout,
                                  MutableOperand<double> dq, MutableOperand<double> dk,
                                  MutableOperand<double> dv);

// The keys [begin, end) that query i may see by its position alone.
struct KeyRange {
  int64_t begin;
  int64_t end;
};

inline KeyRange visible_keys(const AttentionShape& shape, int64_t i) {
  const int64_t position = i + shape.Tk - shape.Tq;
  KeyRange keys{0, shape.Tk};
  if (shape.causal || shape.window > 0) keys.end = position < 0 ? 0 : position + 1;
  if (shape.window > 0 && position >= shape.window) keys.begin = position - shape.window + 1;
  return keys;
}

}  // namespace lookback::kernels
