#include "tools/theorems/plain_attention.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/ops.h"

namespace lookback::tools {
namespace {

size_t at(int64_t i, int64_t j, int64_t columns) { return static_cast<size_t>(i * columns + j); }

std::vector<double> numbers(const Tensor& x) { return x.detach().to_vector<double>(); }

// y = x W^T + b: x (T, D), W (N, D), b (N).
std::vector<double> project(const double* x, int64_t T, int64_t D, const Tensor& weight,
                            const Tensor& bias) {
  const std::vector<double> W = numbers(weight);
  const std::vector<double> b = numbers(bias);
  const int64_t N = weight.size(0);
  std::vector<double> y(at(T, 0, N));
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t n = 0; n < N; ++n) {
      double sum = b[at(0, n, N)];
      for (int64_t c = 0; c < D; ++c) sum += x[at(t, c, D)] * W[at(n, c, D)];
      y[at(t, n, N)] = sum;
    }
  }
  return y;
}

// Columns [h * d, h * d + d) of x (T, N).
std::vector<double> head_of(const std::vector<double>& x, int64_t T, int64_t N, int64_t h,
                            int64_t d) {
  std::vector<double> part(at(T, 0, d));
  for (int64_t t = 0; t < T; ++t) {
    for (int64_t c = 0; c < d; ++c) part[at(t, c, d)] = x[at(t, h * d + c, N)];
  }
  return part;
}

}  // namespace

bool PlainHead::sees(int64_t i, int64_t j) const {
  const int64_t position = i + Tk - Tq;
  return j <= position && (window == 0 || j > position - window);
}

// A_ij = exp(s_ij) / sum_j exp(s_ij), s_ij = q_i . k_j / sqrt(d), over the j that i sees.
std::vector<double> PlainHead::weights() const {
  std::vector<double> A(at(Tq, 0, Tk), 0.0);
  for (int64_t i = 0; i < Tq; ++i) {
    double total = 0;
    for (int64_t j = 0; j < Tk; ++j) {
      if (!sees(i, j)) continue;
      double dot = 0;
      for (int64_t c = 0; c < d; ++c) dot += q[at(i, c, d)] * k[at(j, c, d)];
      A[at(i, j, Tk)] = std::exp(dot / std::sqrt(static_cast<double>(d)));
      total += A[at(i, j, Tk)];
    }
    for (int64_t j = 0; j < Tk && total > 0; ++j) A[at(i, j, Tk)] /= total;
  }
  return A;
}

std::vector<double> PlainHead::output(const std::vector<double>& A) const {
  std::vector<double> out(at(Tq, 0, dv), 0.0);
  for (int64_t i = 0; i < Tq; ++i) {
    for (int64_t j = 0; j < Tk; ++j) {
      for (int64_t c = 0; c < dv; ++c) out[at(i, c, dv)] += A[at(i, j, Tk)] * v[at(j, c, dv)];
    }
  }
  return out;
}

// dA_ij = g_i . v_j;  ds_ij = A_ij (dA_ij - sum_l A_il dA_il), which is diag(A) - A A^T times dA;
// dq_i = sum_j ds_ij k_j / sqrt(d), dk_j likewise, dv_j = sum_i A_ij g_i.
PlainGradients plain_gradients(const PlainHead& head, const std::vector<double>& g) {
  const auto [Tq, Tk, d, dv] = std::tuple(head.Tq, head.Tk, head.d, head.dv);
  const std::vector<double> A = head.weights();
  PlainGradients result{std::vector<double>(at(Tq, 0, d), 0.0),
                        std::vector<double>(at(Tk, 0, d), 0.0),
                        std::vector<double>(at(Tk, 0, dv), 0.0)};
  for (int64_t i = 0; i < Tq; ++i) {
    std::vector<double> dA(static_cast<size_t>(Tk), 0.0);
    double mean = 0;
    for (int64_t j = 0; j < Tk; ++j) {
      for (int64_t c = 0; c < dv; ++c) {
        dA[at(0, j, Tk)] += g[at(i, c, dv)] * head.v[at(j, c, dv)];
        result.dv[at(j, c, dv)] += A[at(i, j, Tk)] * g[at(i, c, dv)];
      }
      mean += A[at(i, j, Tk)] * dA[at(0, j, Tk)];
    }
    for (int64_t j = 0; j < Tk; ++j) {
      const double ds =
          A[at(i, j, Tk)] * (dA[at(0, j, Tk)] - mean) / std::sqrt(static_cast<double>(d));
      for (int64_t c = 0; c < d; ++c) {
        result.dq[at(i, c, d)] += ds * head.k[at(j, c, d)];
        result.dk[at(j, c, d)] += ds * head.q[at(i, c, d)];
      }
    }
  }
  return result;
}

attention::AttentionResult plain_multi_head(const Projections& p, const Tensor& x, int64_t window) {
  const int64_t B = x.size(0), T = x.size(1), D = x.size(2), H = p.num_heads;
  const int64_t d = D / H;
  const int64_t kv_width = p.num_kv_heads * d;
  const std::vector<double> input = numbers(x);
  std::vector<double> output;
  std::vector<double> weights;
  for (int64_t b = 0; b < B; ++b) {
    const double* rows = input.data() + b * T * D;
    const std::vector<double> q = project(rows, T, D, p.query, p.query_bias);
    const std::vector<double> k = project(rows, T, D, p.key, p.key_bias);
    const std::vector<double> v = project(rows, T, D, p.value, p.value_bias);
    std::vector<double> heads(at(T, 0, D));
    for (int64_t h = 0; h < H; ++h) {
      const int64_t g = h / (H / p.num_kv_heads);  // kv head g serves its r query heads
      const PlainHead head{T,
                           T,
                           d,
                           d,
                           window,
                           head_of(q, T, D, h, d),
                           head_of(k, T, kv_width, g, d),
                           head_of(v, T, kv_width, g, d)};
      const std::vector<double> A = head.weights();
      const std::vector<double> out = head.output(A);
      weights.insert(weights.end(), A.begin(), A.end());
      for (int64_t t = 0; t < T; ++t) {
        for (int64_t c = 0; c < d; ++c) heads[at(t, h * d + c, D)] = out[at(t, c, d)];
      }
    }
    const std::vector<double> y = project(heads.data(), T, D, p.output, p.output_bias);
    output.insert(output.end(), y.begin(), y.end());
  }
  return {from_vector(output, {B, T, D}), from_vector(weights, {B, H, T, T})};
}

}  // namespace lookback::tools
