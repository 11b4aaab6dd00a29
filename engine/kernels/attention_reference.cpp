// The plain twin of attention_forward.cpp and attention_backward.cpp: attention as in the
// textbook, one query at a time.
//
//   for each query i
//     s_j = scale q_i . k_j           for the keys j that i may attend
//     p_j = exp(s_j - lse),           lse = log sum_j exp(s_j)
//     o_i = sum_j p_j v_j
//
// and backward, with do_i the gradient of o_i and D_i = do_i . o_i:
//     dv_j += p_j do_i
//     ds_j  = p_j (do_i . v_j - D_i)
//     dq_i += scale ds_j k_j,   dk_j += scale ds_j q_i
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/attention.h"

namespace lookback::kernels {
namespace {

// Where row `t` of head `h` of batch `b` starts.
template <class Array>
auto* row(const Array& a, int64_t b, int64_t h, int64_t t) {
  return a.data + b * a.batch_stride + h * a.head_stride + t * a.time_stride;
}

template <class T>
T dot(int64_t n, const T* x, const T* y) {
  T sum = 0;
  for (int64_t c = 0; c < n; ++c) sum = std::fma(x[c], y[c], sum);
  return sum;
}

// y += a x
template <class T>
void add_scaled(int64_t n, T a, const T* x, T* y) {
  for (int64_t c = 0; c < n; ++c) y[c] = std::fma(a, x[c], y[c]);
}

// The inputs, and what one query makes of them.
template <class T>
struct Problem {
  const AttentionShape& shape;
  Operand<T> q, k, v;
  MayAttend mask;

  int64_t kv_head(int64_t h) const { return h / (shape.heads / shape.kv_heads); }

  // The keys that query i may attend, in order.
  std::vector<int64_t> attended(int64_t b, int64_t h, int64_t i) const {
    const KeyRange visible = visible_keys(shape, i);
    std::vector<int64_t> keys;
    for (int64_t j = visible.begin; j < visible.end; ++j) {
      const uint8_t* m = mask.data;
      if (m != nullptr) {
        m += b * mask.batch_stride + h * mask.head_stride + i * mask.query_stride;
        if (m[j * mask.key_stride] == 0) continue;
      }
      keys.push_back(j);
    }
    return keys;
  }

  // scale q_i, rounded once: what the scores are made of.
  std::vector<T> scaled_query(int64_t b, int64_t h, int64_t i) const {
    std::vector<T> x(row(q, b, h, i), row(q, b, h, i) + shape.d);
    for (T& element : x) element *= static_cast<T>(shape.scale);
    return x;
  }
};

template <class T>
void forward_row(const Problem<T>& p, int64_t b, int64_t h, int64_t i, T* out, T* lse) {
  const int64_t g = p.kv_head(h);
  const std::vector<int64_t> keys = p.attended(b, h, i);
  const std::vector<T> query = p.scaled_query(b, h, i);
  std::fill(out, out + p.shape.dv, T{0});
  *lse = -std::numeric_limits<T>::infinity();
  if (keys.empty()) return;

  std::vector<T> weight;
  for (const int64_t j : keys) weight.push_back(dot(p.shape.d, query.data(), row(p.k, b, g, j)));
  const T largest = *std::max_element(weight.begin(), weight.end());
  T sum = 0;
  for (T& w : weight) {
    w = std::exp(w - largest);
    sum += w;
  }
  for (size_t n = 0; n < keys.size(); ++n) {
    add_scaled(p.shape.dv, weight[n], row(p.v, b, g, keys[n]), out);
  }
  for (int64_t c = 0; c < p.shape.dv; ++c) out[c] /= sum;
  *lse = largest + std::log(sum);
}

template <class T>
void plain_forward(const AttentionShape& shape, Operand<T> q, Operand<T> k, Operand<T> v,
                   MayAttend mask, MutableOperand<T> out, T* lse) {
  const Problem<T> problem{shape, q, k, v, mask};
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      for (int64_t i = 0; i < shape.Tq; ++i) {
        forward_row(problem, b, h, i, row(out, b, h, i), lse++);
      }
    }
  }
}

template <class T>
void clear(const MutableOperand<T>& a, int64_t B, int64_t H, int64_t rows, int64_t width) {
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t t = 0; t < rows; ++t) {
        std::fill(row(a, b, h, t), row(a, b, h, t) + width, T{0});
      }
    }
  }
}

template <class T>
void plain_backward(const AttentionShape& shape, Operand<T> q, Operand<T> k, Operand<T> v,
                    MayAttend mask, Operand<T> out, const T* lse, Operand<T> dout,
                    MutableOperand<T> dq, MutableOperand<T> dk, MutableOperand<T> dv) {
  const Problem<T> problem{shape, q, k, v, mask};
  const T scale = static_cast<T>(shape.scale);
  clear(dq, shape.batch, shape.heads, shape.Tq, shape.d);
  clear(dk, shape.batch, shape.kv_heads, shape.Tk, shape.d);
  clear(dv, shape.batch, shape.kv_heads, shape.Tk, shape.dv);
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t h = 0; h < shape.heads; ++h) {
      const int64_t g = problem.kv_head(h);
      for (int64_t i = 0; i < shape.Tq; ++i, ++lse) {
        const std::vector<T> query = problem.scaled_query(b, h, i);
        const T* do_i = row(dout, b, h, i);
        const T D = dot(shape.dv, do_i, row(out, b, h, i));
        for (const int64_t j : problem.attended(b, h, i)) {
          const T p = std::exp(dot(shape.d, query.data(), row(k, b, g, j)) - *lse);
          const T ds = p * (dot(shape.dv, do_i, row(v, b, g, j)) - D);
          add_scaled(shape.dv, p, do_i, row(dv, b, g, j));
          add_scaled(shape.d, scale * ds, row(k, b, g, j), row(dq, b, h, i));
          add_scaled(shape.d, ds, query.data(), row(dk, b, g, j));
        }
      }
    }
  }
}

}  // namespace

void attention_forward_reference(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                                 Operand<float> v, MayAttend mask, MutableOperand<float> out,
                                 float* lse) {
  plain_forward(shape, q, k, v, mask, out, lse);
}

void attention_forward_reference(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                                 Operand<double> v, MayAttend mask, MutableOperand<double> out,
                                 double* lse) {
  plain_forward(shape, q, k, v, mask, out, lse);
}

void attention_backward_reference(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                                  Operand<float> v, MayAttend mask, Operand<float> out,
                                  const float* lse, Operand<float> dout, MutableOperand<float> dq,
                                  MutableOperand<float> dk, MutableOperand<float> dv) {
  plain_backward(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

void attention_backward_reference(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                                  Operand<double> v, MayAttend mask, Operand<double> out,
                                  const double* lse, Operand<double> dout,
                                  MutableOperand<double> dq, MutableOperand<double> dk,
                                  MutableOperand<double> dv) {
  plain_backward(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

#ifdef LOOKBACK_REFERENCE_KERNELS

void attention_forward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                       Operand<float> v, MayAttend mask, MutableOperand<float> out, float* lse) {
  plain_forward(shape, q, k, v, mask, out, lse);
}

void attention_forward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                       Operand<double> v, MayAttend mask, MutableOperand<double> out, double* lse) {
  plain_forward(shape, q, k, v, mask, out, lse);
}

void attention_backward(const AttentionShape& shape, Operand<float> q, Operand<float> k,
                        Operand<float> v, MayAttend mask, Operand<float> out, const float* lse,
                        Operand<float> dout, MutableOperand<float> dq, MutableOperand<float> dk,
                        MutableOperand<float> dv) {
  plain_backward(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

void attention_backward(const AttentionShape& shape, Operand<double> q, Operand<double> k,
                        Operand<double> v, MayAttend mask, Operand<double> out, const double* lse,
                        Operand<double> dout, MutableOperand<double> dq, MutableOperand<double> dk,
                        MutableOperand<double> dv) {
  plain_backward(shape, q, k, v, mask, out, lse, dout, dq, dk, dv);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
