// The work on lookback.
#include <memory>

#include "attention/attention.h"
#include "bench/peers/workload.h"
#include "engine/engine.h"

namespace lookback::peers {
namespace {

Tensor variable(const Numbers& numbers, const Shape& shape) {
  return from_vector(numbers, shape).set_requires_grad(true);
}

void append(Numbers& to, const Tensor& x) {
  const Numbers numbers = x.to_vector<float>();
  to.insert(to.end(), numbers.begin(), numbers.end());
}

}  // namespace

Numbers random_numbers(int64_t count, uint64_t seed) {
  Generator generator(seed);
  return randn({count}, generator).to_vector<float>();
}

Side our_matmul(int64_t M, int64_t K, int64_t N, bool transpose_b, const Numbers& a,
                const Numbers& b) {
  const Tensor A = from_vector(a, {M, K});
  const Tensor B = transpose_b ? transpose(from_vector(b, {N, K}), 0, 1) : from_vector(b, {K, N});
  return {[=] { matmul(A, B); }, [=] { return matmul(A, B).to_vector<float>(); }};
}

Side our_head(int64_t B, int64_t T, int64_t d, int64_t d_head, const Numbers& x,
              const Numbers& weights) {
  Generator generator(1);
  const auto head = std::make_shared<attention::Head>(d, d_head, T, generator);
  const Tensor all = from_vector(weights, {3, d_head, d});
  {
    const NoGradGuard no_grad;
    head->key.weight.copy_(select(all, 0, 0));
    head->query.weight.copy_(select(all, 0, 1));
    head->value.weight.copy_(select(all, 0, 2));
  }
  const Tensor input = variable(x, {B, T, d});
  const auto step = [=] {
    input.zero_grad();
    head->zero_grad();
    const Tensor output = head->forward(input);
    sum(output).backward();
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

Side our_attention(int64_t T, int64_t d, bool backward, const Numbers& q, const Numbers& k,
                   const Numbers& v) {
  const Shape shape = {1, 1, T, d};
  const Tensor Q = backward ? variable(q, shape) : from_vector(q, shape);
  const Tensor K = backward ? variable(k, shape) : from_vector(k, shape);
  const Tensor V = backward ? variable(v, shape) : from_vector(v, shape);
  const auto step = [=] {
    const Tensor output = attention::fused_attention(Q, K, V, {}, {.causal = true});
    if (backward) {
      for (const Tensor& x : {Q, K, V}) x.zero_grad();
      sum(output).backward();
    }
    return output;
  };
  return {[=] { step(); },
          [=] {
            Numbers results;
            append(results, step());
            if (backward) {
              for (const Tensor& x : {Q, K, V}) append(results, x.grad());
            }
            return results;
          }};
}

Side our_small_add(const Numbers& a, const Numbers& b) {
  const Tensor A = variable(a, {static_cast<int64_t>(a.size())});
  const Tensor B = variable(b, {static_cast<int64_t>(b.size())});
  return {[=] { add(A, B); }, [=] { return add(A, B).to_vector<float>(); }};
}

Side our_row_op(const std::string& op, int64_t n, const Numbers& x) {
  const Tensor X = variable(x, {n, n});
  const Tensor weight = ones({n}).set_requires_grad(true);
  const Tensor bias = zeros({n}).set_requires_grad(true);
  const Tensor target = arange(n);
  const Tensor seed = X.detach().clone();
  const auto step = [=] {
    for (const Tensor& p : {X, weight, bias}) p.zero_grad();
    if (op == "cross_entropy") {
      const Tensor y = cross_entropy(X, target);
      y.backward();
      return y;
    }
    const Tensor y = op == "softmax"      ? softmax(X, -1)
                     : op == "layer_norm" ? layer_norm(X, weight, bias)
                                          : gelu(X);
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
