// Attention by its definition alone: the paper's equation as loops over numbers in double
// precision. Knows no op and no kernel; the independent truth that theorems compare with.
#pragma once

#include <vector>

#include "tools/theorems/subject.h"

namespace lookback::tools {

// One head: q (Tq, d), k (Tk, d), v (Tk, dv), row-major. Query i is at position i + Tk - Tq and
// sees the keys up to its own position; with a window W, the last W of them.
struct PlainHead {
  int64_t Tq = 0, Tk = 0, d = 0, dv = 0;
  int64_t window = 0;
  std::vector<double> q, k, v;

  bool sees(int64_t i, int64_t j) const;
  std::vector<double> weights() const;                             // A (Tq, Tk)
  std::vector<double> output(const std::vector<double>& A) const;  // A v (Tq, dv)
};

// Gradients of L = sum(g * output), g (Tq, dv).
struct PlainGradients {
  std::vector<double> dq, dk, dv;
};
PlainGradients plain_gradients(const PlainHead& head, const std::vector<double>& g);

// Concat(head_1, ..., head_H) W_o with biases; output (B, T, D) and weights (B, H, T, T), f64.
attention::AttentionResult plain_multi_head(const Projections& p, const Tensor& x, int64_t window);

}  // namespace lookback::tools
