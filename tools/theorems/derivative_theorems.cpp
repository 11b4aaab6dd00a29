// Theorems about derivatives: of one softmax row, of attention, of a whole multi-head attention.
#include <cmath>

#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/ops.h"
#include "tools/theorems/operands.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// dA_ij / dq_i = sum_l (diag(p) - p p^T)_jl k_l / sqrt(d_k), p = A_i: all elements.
void softmax_jacobian(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(n.width));
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor q = o.q.clone().set_requires_grad(true);
    const Tensor A = subject.attend(q, o.k, o.v, Tensor()).weights;
    for (int64_t i = 0; i < n.tokens; ++i) {
      const Tensor p = select(A, 0, i).detach();
      const Tensor jacobian = eye(n.tokens, dtype) * p - unsqueeze(p, 1) * unsqueeze(p, 0);
      const Tensor want = matmul(jacobian, o.k) * scale;
      for (int64_t j = 0; j < n.tokens; ++j) {
        const Tensor dq = grad(select(select(A, 0, i), 0, j), {q}, {}, {.retain_graph = true})[0];
        check.that(dq.defined(), "no gradient reaches q");
        if (!dq.defined()) return;
        check.close("dA_" + std::to_string(i) + std::to_string(j) + " / dq_" + std::to_string(i),
                    select(dq, 0, i), select(want, 0, j), 1.0);
      }
    }
  }
}

// The gradient of the output, and the gradient of that gradient, against finite differences.
void gradients(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const Operands o = random_operands(seed, n, DType::f64);
  const TensorFunction attend = [&](const std::vector<Tensor>& x) {
    return subject.attend(x[0], x[1], x[2], subject.mask(n.tokens, n.tokens, 0)).output;
  };
  const GradCheckOptions options = {.absolute_tolerance = check.tolerance(),
                                    .relative_tolerance = check.tolerance()};
  const GradCheckResult first = grad_check(attend, {o.q, o.k, o.v}, options);
  const int64_t elements = 3 * o.q.numel();
  check.derivatives("", first, elements);
  if (!first.ok) return;
  const GradCheckResult second = grad_grad_check(attend, {o.q, o.k, o.v}, options);
  check.derivatives("second derivative: ", second, elements + o.q.numel());
}

// The same for every projection and bias of a multi-head attention whose heads share keys.
void parameter_gradients(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  Generator generator(seed);
  const int64_t D = n.heads * n.width;
  const Projections p = random_projections(D, n.heads, 1, generator, DType::f64);
  const Tensor x = randn({n.batch, n.tokens, D}, generator, DType::f64);
  const std::vector<Tensor> variables = {
      x, p.query, p.key, p.value, p.output, p.query_bias, p.key_bias, p.value_bias, p.output_bias};
  int64_t elements = 0;
  for (const Tensor& variable : variables) elements += variable.numel();
  const GradCheckResult result = grad_check(
      [&](const std::vector<Tensor>& t) {
        const Projections trial = {n.heads, 1, t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]};
        return subject.multi_head(trial, t[0], 0).output;
      },
      variables,
      {.absolute_tolerance = check.tolerance(), .relative_tolerance = check.tolerance()});
  check.derivatives("", result, elements);
}

}  // namespace

std::vector<Theorem> derivative_theorems() {
  return {
      {.id = "jacobian",
       .statement = "The Jacobian of softmax is diag(p) - p p^T",
       .operands = "q, k, v (T, d)",
       .sizes = {.tokens = 5, .width = 4},
       .least = {.tokens = 1, .width = 1},
       .equality = Equality::rounding,
       .tolerance = 16,
       .check = softmax_jacobian},
      {.id = "gradient",
       .statement = "First and second derivatives equal finite differences",
       .operands = "q, k, v (B, T, d), f64",
       .sizes = {.batch = 1, .tokens = 4, .width = 3},
       .least = {.batch = 1, .tokens = 1, .width = 1},
       .equality = Equality::differences,
       .tolerance = 1e-6,
       .check = gradients},
      {.id = "parameters",
       .statement = "Gradients of x, projections and biases equal finite differences",
       .operands = "x (B, T, H d), f64, H_kv 1",
       .sizes = {.batch = 1, .heads = 2, .tokens = 3, .width = 2},
       .least = {.batch = 1, .heads = 1, .tokens = 1, .width = 1},
       .equality = Equality::differences,
       .tolerance = 1e-6,
       .scope = Scope::multi_head,
       .check = parameter_gradients},
  };
}

}  // namespace lookback::tools
