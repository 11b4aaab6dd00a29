// A workload: the same work, done by lookback and by a peer, on the same numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lookback::peers {

using Numbers = std::vector<float>;

struct Side {
  std::function<void()> run;         // the work that is timed
  std::function<Numbers()> results;  // what it computes, for comparing before anything is timed
};

struct Workload {
  std::string name;
  std::string peer;  // "OpenBLAS", "PyTorch"
  Side ours;
  Side theirs;
  double goal = 1.0;        // wanted: their time / our time
  double tolerance = 1e-4;  // largest accepted difference, relative to the largest number
  double flops = 0;         // of one run, counted once; 0: not told
};

// Normal(0, 1) numbers, the same on every machine.
Numbers random_numbers(int64_t count, uint64_t seed);

// --- the peers (torch_side.cpp, openblas_side.cpp) ----------------------------------------------
void set_peer_threads(int count);
Side openblas_matmul(int64_t n, const Numbers& a, const Numbers& b);
Side torch_matmul(int64_t M, int64_t K, int64_t N, bool transpose_b, const Numbers& a,
                  const Numbers& b);
// x (B, T, d); the three weights (d_head, d) as one array: key, query, value. Forward, and the
// gradient of the sum of the output; the results are output and dx.
Side torch_head(int64_t B, int64_t T, int64_t d, int64_t d_head, const Numbers& x,
                const Numbers& weights);
// Causal softmax(q k^T / sqrt(d)) v for one head, composed, as nobody has fused it in PyTorch 1.13.
Side torch_attention(int64_t T, int64_t d, bool backward, const Numbers& q, const Numbers& k,
                     const Numbers& v);
Side torch_small_add(const Numbers& a, const Numbers& b);
// op: "softmax", "layer_norm", "gelu", "cross_entropy"; forward and backward of an (n, n) input.
Side torch_row_op(const std::string& op, int64_t n, const Numbers& x);

// --- ours (our_side.cpp): the same signatures ---------------------------------------------------
Side our_matmul(int64_t M, int64_t K, int64_t N, bool transpose_b, const Numbers& a,
                const Numbers& b);
Side our_head(int64_t B, int64_t T, int64_t d, int64_t d_head, const Numbers& x,
              const Numbers& weights);
Side our_attention(int64_t T, int64_t d, bool backward, const Numbers& q, const Numbers& k,
                   const Numbers& v);
Side our_small_add(const Numbers& a, const Numbers& b);
Side our_row_op(const std::string& op, int64_t n, const Numbers& x);

}  // namespace lookback::peers
