// The work on PyTorch's C++ front end.
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "bench/peers/workload.h"

namespace lookback::peers {
namespace {

torch::Tensor constant(const Numbers& numbers, at::IntArrayRef shape) {
  return torch::tensor(numbers).reshape(shape).clone();
}

torch::Tensor variable(const Numbers& numbers, at::IntArrayRef shape) {
  return constant(numbers, shape).requires_grad_(true);
}

void append(Numbers& to, const torch::Tensor& x) {
  const torch::Tensor flat = x.detach().contiguous();
  to.insert(to.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
}

// The (T, T) attention of the lesson's head.
torch::Tensor causal_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const torch::Tensor& future) {
  torch::Tensor scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(double(q.size(-1)));
  scores = scores.masked_fill(future, -std::numeric_limits<double>::infinity());
  return torch::matmul(torch::softmax(scores, -1), v);
}

torch::Tensor future_mask(int64_t T) { return torch::ones({T, T}).tril() == 0; }

void forget_gradients(std::initializer_list<torch::Tensor> tensors) {
  for (const torch::Tensor& x : tensors) x.mutable_grad() = torch::Tensor();
}

}  // namespace

Side torch_matmul(int64_t M, int64_t K, int64_t N, bool transpose_b, const Numbers& a,
                  const Numbers& b) {
  const torch::Tensor A = constant(a, {M, K});
  const torch::Tensor B = transpose_b ? constant(b, {N, K}).t() : constant(b, {K, N});
  return {[=] { torch::matmul(A, B); },
          [=] {
            Numbers results;
            append(results, torch::matmul(A, B));
            return results;
          }};
}

Side torch_head(int64_t B, int64_t T, int64_t d, int64_t d_head, const Numbers& x,
                const Numbers& weights) {
  const torch::Tensor input = variable(x, {B, T, d});
  const torch::Tensor all = constant(weights, {3, d_head, d});
  const torch::Tensor key = all[0].clone().requires_grad_(true);
  const torch::Tensor query = all[1].clone().requires_grad_(true);
  const torch::Tensor value = all[2].clone().requires_grad_(true);
  const torch::Tensor future = future_mask(T);
  const auto step = [=] {
    forget_gradients({input, key, query, value});
    const torch::Tensor output =
        causal_attention(torch::matmul(input, query.t()), torch::matmul(input, key.t()),
                         torch::matmul(input, value.t()), future);
    output.sum().backward();
    return output;
  };
  return {[=] { step(); },
          [=] {
            Numbers results;
            append(results, step());
            append(results, input.grad());
            return results;
          }};
}

Side torch_attention(int64_t T, int64_t d, bool backward, const Numbers& q, const Numbers& k,
                     const Numbers& v) {
  const torch::Tensor Q = constant(q, {1, 1, T, d}).requires_grad_(backward);
  const torch::Tensor K = constant(k, {1, 1, T, d}).requires_grad_(backward);
  const torch::Tensor V = constant(v, {1, 1, T, d}).requires_grad_(backward);
  const torch::Tensor future = future_mask(T);
  const auto step = [=] {
    const torch::Tensor output = causal_attention(Q, K, V, future);
    if (backward) {
      forget_gradients({Q, K, V});
      output.sum().backward();
    }
    return output;
  };
  return {[=] { step(); },
          [=] {
            Numbers results;
            append(results, step());
            if (backward) {
              for (const torch::Tensor& x : {Q, K, V}) append(results, x.grad());
            }
            return results;
          }};
}

Side torch_small_add(const Numbers& a, const Numbers& b) {
  const torch::Tensor A = variable(a, {int64_t(a.size())});
  const torch::Tensor B = variable(b, {int64_t(b.size())});
  return {[=] { torch::add(A, B); },
          [=] {
            Numbers results;
            append(results, torch::add(A, B));
            return results;
          }};
}

Side torch_row_op(const std::string& op, int64_t n, const Numbers& x) {
  namespace F = torch::nn::functional;
  const torch::Tensor X = variable(x, {n, n});
  const torch::Tensor weight = torch::ones({n}).requires_grad_(true);
  const torch::Tensor bias = torch::zeros({n}).requires_grad_(true);
  const torch::Tensor target = torch::arange(n);
  const torch::Tensor seed = X.detach().clone();
  const auto step = [=] {
    forget_gradients({X, weight, bias});
    if (op == "cross_entropy") {
      const torch::Tensor y = torch::cross_entropy_loss(X, target);
      y.backward();
      return y;
    }
    const torch::Tensor y = op == "softmax"      ? torch::softmax(X, -1)
                            : op == "layer_norm" ? torch::layer_norm(X, {n}, weight, bias)
                                                 : torch::gelu(X);
    y.backward(seed);
    return y;
  };
  return {[=] { step(); },
          [=] {
            Numbers results;
            append(results, step());
            append(results, X.grad());
            return results;
          }};
}

}  // namespace lookback::peers
