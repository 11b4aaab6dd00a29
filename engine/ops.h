// TABLE OF CONTENTS: every op, one sentence each. The formula, the derivative and the code of an
// op stand together in engine/ops/<family>.cpp.
//
// Common to all: shapes broadcast from the right where two tensors meet; dtypes must match; a
// plain number takes the dtype of the tensor beside it; negative dimensions count from the end;
// an empty list of dimensions means all. Bad shapes and dtypes throw std::invalid_argument, bad
// dimensions and indices std::out_of_range, before anything is done.
//
// Letters in comments: B batch, T time, C channels, H heads; (M, K) x (K, N) for products.
#pragma once

#include <vector>

#include "engine/random.h"
#include "engine/tensor.h"

namespace lookback {

// ====== Primitives: each has its own derivative ================================================

// --- arithmetic.cpp: numbers with numbers ------------------------------------------------------
Tensor add(const Tensor& a, const Tensor& b);  // a + b
Tensor add(const Tensor& a, double s);
Tensor sub(const Tensor& a, const Tensor& b);  // a - b
Tensor mul(const Tensor& a, const Tensor& b);  // a b, elementwise
Tensor mul(const Tensor& a, double s);
Tensor div(const Tensor& a, const Tensor& b);  // a / b; integers are refused: convert first
Tensor neg(const Tensor& x);                   // -x
Tensor pow(const Tensor& x, double exponent);  // x^p
Tensor pow(const Tensor& x, const Tensor& exponent);
Tensor maximum(const Tensor& a, const Tensor& b);  // the larger; NaN wins; ties share the gradient
Tensor minimum(const Tensor& a, const Tensor& b);

// --- unary.cpp: functions of one number --------------------------------------------------------
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
Tensor relu(const Tensor& x);     // max(x, 0); gradient 0 at 0
Tensor gelu(const Tensor& x);     // x Phi(x), exact (Hendrycks and Gimpel 2016)
Tensor abs(const Tensor& x);      // |x|; gradient 0 at 0

// --- select.cpp: choosing elements by a condition ----------------------------------------------
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);  // a where true, else b
// value where the boolean mask is true, else x. The gradient is selected, never multiplied.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);

// --- compare.cpp: comparisons give boolean tensors; nothing to differentiate -------------------
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& x);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);

// --- reduce.cpp: many numbers into one ---------------------------------------------------------
Tensor sum(const Tensor& x, const Dims& dims = {}, bool keepdim = false);  // of nothing: 0
Tensor max(const Tensor& x, const Dims& dims = {},
           bool keepdim = false);  // ties share the gradient
Tensor min(const Tensor& x, const Dims& dims = {}, bool keepdim = false);
// The index of the first largest element; i64, not differentiable.
Tensor argmax(const Tensor& x, int64_t dim, bool keepdim = false);
Tensor argmax(const Tensor& x);  // in row-major order

// --- softmax.cpp: distributions along a dimension ----------------------------------------------
Tensor softmax(const Tensor& x, int64_t dim);                          // exp(x_i) / sum_j exp(x_j)
Tensor log_softmax(const Tensor& x, int64_t dim);                      // x_i - logsumexp(x)
Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim = false);  // log sum_j exp(x_j)
// The mean over rows of -log softmax(logits)[target]; logits (N, C), target (N) of i64; a scalar.
Tensor cross_entropy(const Tensor& logits, const Tensor& target);

// --- matmul.cpp --------------------------------------------------------------------------------
// (..., M, K) x (..., K, N) -> (..., M, N); leading dimensions broadcast; a 1-d operand is a row
// on the left, a column on the right, and its dimension is dropped from the result.
Tensor matmul(const Tensor& a, const Tensor& b);

// --- views.cpp: the same elements, seen differently; nothing is copied -------------------------
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1);
Tensor permute(const Tensor& x, const Dims& dims);
Tensor reshape(const Tensor& x, const Shape& shape);  // one size may be -1; copies only if it must
Tensor unsqueeze(const Tensor& x, int64_t dim);       // a new dimension of size 1
Tensor squeeze(const Tensor& x, int64_t dim);         // drops it, if its size is 1
Tensor squeeze(const Tensor& x);                      // drops all dimensions of size 1
Tensor expand(const Tensor& x, const Shape& shape);   // repeats sizes 1; -1 keeps a size
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
Tensor select(const Tensor& x, int64_t dim, int64_t index);  // one slice; drops the dimension

// --- join.cpp ----------------------------------------------------------------------------------
Tensor cat(const std::vector<Tensor>& parts, int64_t dim = 0);    // along an existing dimension
Tensor stack(const std::vector<Tensor>& parts, int64_t dim = 0);  // along a new one

// --- index.cpp: picking elements by integer ----------------------------------------------------
Tensor embedding(const Tensor& weight, const Tensor& index);       // (V, C), i64 (...) -> (..., C)
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);  // y[i][j] = x[i][index[i][j]]
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);  // index: 1-d

// --- layer_norm.cpp ----------------------------------------------------------------------------
// (x - mean) / sqrt(var + eps) * weight + bias over the last dimension (Ba et al. 2016); weight
// and bias (C) may be undefined.
Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

// --- blockwise_attention.cpp -------------------------------------------------------------------
// What attention multiplies its scores by: `scale`, or 1 / sqrt(d_k) if that is 0 (Vaswani et al.
// 2017, equation 1). Throws if neither is given.
double score_scale(const char* op, double scale, int64_t d_k);

struct BlockwiseOptions {
  double scale = 0;     // of the scores; 0: 1 / sqrt(d_k)
  bool causal = false;  // aligned at the bottom right: the last query sees all keys
  int64_t window = 0;   // W > 0: the last W keys, the token itself included; implies causal
};
// softmax(scale q k^T) v without a T x T matrix (Dao et al. 2022): q (B, H, Tq, d_k),
// k (B, H_kv, Tk, d_k), v (B, H_kv, Tk, d_v) -> (B, H, Tq, d_v); kv head g serves query heads
// g r ... g r + r - 1, r = H / H_kv; mask boolean, true = may attend.
Tensor blockwise_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                           const Tensor& mask = {}, BlockwiseOptions options = {});

// --- convert.cpp -------------------------------------------------------------------------------
Tensor to(const Tensor& x, DType dtype);

// ====== Derived ops: composed from those above, without a derivative of their own ==============

// --- derived.cpp -------------------------------------------------------------------------------
Tensor mean(const Tensor& x, const Dims& dims = {}, bool keepdim = false);  // of nothing: NaN
// sum (x - mean)^2 / (n - correction)
Tensor var(const Tensor& x, const Dims& dims = {}, bool keepdim = false, int64_t correction = 1);
// Zeroes elements with probability p and scales the others by 1 / (1 - p) (Srivastava 2014).
Tensor dropout(const Tensor& x, double p, Generator& generator, bool training = true);

inline Tensor sub(const Tensor& a, double s) { return add(a, -s); }
inline Tensor div(const Tensor& a, double s) { return div(a, full({}, s, a.dtype())); }
// s as a tensor of x's dtype; refused where it would not survive: 0.5 beside integers.
Tensor number_beside(const Tensor& x, double s);

// --- operators: the same ops, spelled as formulas ----------------------------------------------
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, double s) { return add(a, s); }
inline Tensor operator+(double s, const Tensor& a) { return add(a, s); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, double s) { return sub(a, s); }
inline Tensor operator-(double s, const Tensor& a) { return add(neg(a), s); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, double s) { return mul(a, s); }
inline Tensor operator*(double s, const Tensor& a) { return mul(a, s); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, double s) { return div(a, s); }
inline Tensor operator/(double s, const Tensor& a) { return div(full({}, s, a.dtype()), a); }

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator==(const Tensor& a, double s) { return eq(a, number_beside(a, s)); }
inline Tensor operator!=(const Tensor& a, double s) { return ne(a, number_beside(a, s)); }
inline Tensor operator<(const Tensor& a, double s) { return lt(a, number_beside(a, s)); }
inline Tensor operator<=(const Tensor& a, double s) { return le(a, number_beside(a, s)); }
inline Tensor operator>(const Tensor& a, double s) { return gt(a, number_beside(a, s)); }
inline Tensor operator>=(const Tensor& a, double s) { return ge(a, number_beside(a, s)); }
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

}  // namespace lookback
