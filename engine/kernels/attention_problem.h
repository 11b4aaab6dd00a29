// What forward and backward attention share that is not arithmetic: the arguments as one struct,
// the order in which query rows are taken, and scratch memory. Knows no SIMD.
//
// The r query heads of one key/value head are taken together, as one list of rows: row n is query
// n / r of head g r + n % r. Each key and value that is loaded then serves all of them, and with
// a causal mask the rows still see more and more keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/kernels/attention.h"

namespace lookback::kernels {

template <class T>
struct AttentionInputs {
  AttentionShape shape;
  Operand<T> q;
  Operand<T> k;
  Operand<T> v;
  MayAttend mask;

  int64_t group() const { return shape.heads / shape.kv_heads; }  // r
  int64_t rows() const { return shape.Tq * group(); }             // of one key/value head
  int64_t pairs() const { return shape.batch * shape.kv_heads; }  // (batch, key/value head)

  // How many units of `rows` rows make enough work (about 50 us) to be worth a thread.
  int64_t grain(int64_t unit_rows) const {
    const int64_t fmas = unit_rows * (shape.Tk / 2 + 1) * (shape.d + shape.dv);
    return 1 + (int64_t{1} << 21) / (fmas + 1);
  }
};

template <class T>
struct AttentionGradients {
  AttentionInputs<T> in;
  Operand<T> out;
  const T* lse;
  Operand<T> dout;
  MutableOperand<T> dq;
  MutableOperand<T> dk;
  MutableOperand<T> dv;

  // Into how many segments the rows are dealt; depends on nothing but their number.
  static constexpr int64_t kMaxSegments = 4;
  int64_t segments() const {
    if (in.rows() < 512) return 1;
    return in.rows() < 4096 ? 2 : kMaxSegments;
  }
  // To and fro (0 1 2 3 3 2 1 0 0 ...), so that with a causal mask all are about equally much.
  int64_t segment_of(int64_t tile) const {
    const int64_t n = tile % (2 * segments());
    return n < segments() ? n : 2 * segments() - 1 - n;
  }
};

// One batch, one key/value head, and one of its rows.
struct Place {
  int64_t b;
  int64_t g;
  int64_t h;
  int64_t i;
};

template <class T>
Place place_of(const AttentionInputs<T>& in, int64_t pair, int64_t row) {
  const int64_t r = in.group();
  const int64_t g = pair % in.shape.kv_heads;
  return {pair / in.shape.kv_heads, g, g * r + row % r, row / r};
}

// Whether a row may attend to any key at all.
template <class T>
bool sees_a_key(const AttentionInputs<T>& in, const Place& at) {
  const KeyRange keys = visible_keys(in.shape, at.i);
  if (in.mask.data == nullptr) return keys.begin < keys.end;
  const uint8_t* may_attend = in.mask.data + at.b * in.mask.batch_stride +
                              at.h * in.mask.head_stride + at.i * in.mask.query_stride;
  for (int64_t j = keys.begin; j < keys.end; ++j) {
    if (may_attend[j * in.mask.key_stride] != 0) return true;
  }
  return false;
}

// The sum of a row's weights before they are divided by it. 0 is left to rows without keys; where
// all that a row sees has the score -infinity there is no distribution, as in softmax.
template <class T>
T weight_sum(const AttentionInputs<T>& in, const Place& at, T sum) {
  return sum == 0 && sees_a_key(in, at) ? std::numeric_limits<T>::quiet_NaN() : sum;
}

// Where row `t` of head `h` of batch `b` starts.
template <class Array>
auto* row_of(const Array& a, int64_t b, int64_t h, int64_t t) {
  return a.data + b * a.batch_stride + h * a.head_stride + t * a.time_stride;
}

// Unit n of `count` in the order 0, count-1, 1, count-2, ...: with a causal mask late queries are
// the most work, and every contiguous share of this order is about equally much.
inline int64_t balanced(int64_t n, int64_t count) { return n % 2 == 0 ? n / 2 : count - 1 - n / 2; }

// Memory of the calling thread, at least `bytes`, aligned to a cache line, contents undefined. It
// grows when it must and is kept for the next call. Two kinds, so that both can be in use.
enum class Scratch { kTile, kGradients };
std::byte* thread_scratch(Scratch kind, size_t bytes);

// Hands out arrays from one piece of scratch memory, each on its own cache lines.
template <class T>
class ScratchArrays {
 public:
  // `elements` is the sum of all arrays, `arrays` their number.
  ScratchArrays(Scratch kind, int64_t elements, int64_t arrays)
      : next_(reinterpret_cast<T*>(
            thread_scratch(kind, static_cast<size_t>(elements + arrays * kLine) * sizeof(T)))) {}

  T* take(int64_t elements) {
    T* taken = next_;
    next_ += (elements + kLine - 1) / kLine * kLine;
    return taken;
  }

 private:
  static constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  T* next_;
};

}  // namespace lookback::kernels
