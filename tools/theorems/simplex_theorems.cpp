// Theorems about one row of the attention matrix: it is a distribution, at the right temperature,
// with the right derivative.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/ops.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

struct Operands {
  Tensor q, k, v;
};

Operands operands(uint64_t seed, const Shape& shape, DType dtype = DType::f64) {
  Generator generator(seed);
  Operands o;
  o.q = randn(shape, generator, dtype);
  o.k = randn(shape, generator, dtype);
  o.v = randn(shape, generator, dtype);
  return o;
}

// A >= 0, A 1 = 1, and A is 0 where the mask forbids.
Outcome simplex(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Operands o = operands(seed, {2, 8, 16}, dtype);
    const Tensor may = tril(ones({8, 8})) > 0.5;
    const Tensor A = subject.attend(o.q, o.k, o.v, subject.mask(8, 8, 0)).weights.detach();
    check.all_zero("negative part of A", minimum(A, zeros({}, dtype)));
    check.close("row sum of A", sum(A, -1), ones({2, 8}, dtype), 1e-6);
    check.all_zero("A above the diagonal", where(may, zeros({}, dtype), A));
  }
  return check.outcome();
}

// Row i of the output lies between the least and the greatest allowed value, in every coordinate.
Outcome convex_hull(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  const Operands o = operands(seed, {1, 8, 16});
  const Tensor out = subject.attend(o.q, o.k, o.v, subject.mask(8, 8, 0)).output.detach();
  for (int64_t i = 0; i < 8; ++i) {
    const Tensor seen = narrow(o.v, 1, 0, i + 1);
    const Tensor row = select(out, 1, i);
    const std::string where = "row " + std::to_string(i);
    check.close(where + " below the hull", minimum(row - min(seen, 1), zeros({}, DType::f64)),
                zeros({1, 16}, DType::f64), 1e-12);
    check.close(where + " above the hull", maximum(row - max(seen, 1), zeros({}, DType::f64)),
                zeros({1, 16}, DType::f64), 1e-12);
  }
  return check.outcome();
}

constexpr int64_t kSamples = 2048;

// Var(q . k) = d_k for independent entries of variance 1, so scaled scores have variance 1: two
// weights of a row differ by a factor exp(s - s'), whose logarithm has variance 2. Each query here
// has two keys of its own, so that the samples (s - s')^2 / 2 are independent, of mean 1; given q
// they are |q|^2 / d chi-squared, which makes their variance 2 + 6 / d. Counted in standard errors
// a correct scale passes 6 for all but one seed in 10^8, a wrong factor of sqrt(2) reaches 14.
Outcome scale_variance(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  for (const int64_t d : {16, 64, 256}) {
    const Operands o = operands(seed + static_cast<uint64_t>(d), {kSamples, 2, d});
    const Tensor A = subject.attend(narrow(o.q, 1, 0, 1), o.k, o.v, Tensor()).weights.detach();
    const Tensor difference = log(narrow(A, -1, 1, 1)) - log(narrow(A, -1, 0, 1));
    const Tensor excess = mean(difference * difference) * 0.5 - 1.0;
    const double error = std::sqrt((2.0 + 6.0 / static_cast<double>(d)) / kSamples);
    check.close("variance of scores less 1 in standard errors, d_k = " + std::to_string(d),
                excess * (1.0 / error), zeros({}, DType::f64), 6.0);
  }
  return check.outcome();
}

// softmax(s + c) = softmax(s): a vector u added to every key adds q . u to every score of a row.
Outcome shift_invariance(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  const Operands o = operands(seed, {1, 8, 16});
  const Tensor q = abs(o.q) + 0.5;
  const Tensor mask = subject.mask(8, 8, 0);
  const Tensor A = subject.attend(q, o.k, o.v, mask).weights;
  for (const double shift : {3.0, -1000.0}) {
    check.close("A after a shift", subject.attend(q, o.k + shift, o.v, mask).weights, A, 1e-9);
  }
  return check.outcome();
}

// dA_ij / dq_i = sum_l (diag(p) - p p^T)_jl k_l / sqrt(d_k), p = A_i: all elements.
Outcome softmax_jacobian(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  const Operands o = operands(seed, {5, 4});
  const Tensor q = o.q.clone().set_requires_grad(true);
  const Tensor A = subject.attend(q, o.k, o.v, Tensor()).weights;
  for (int64_t i = 0; i < 5; ++i) {
    const Tensor p = select(A, 0, i).detach();
    const Tensor hessian = eye(5, DType::f64) * p - unsqueeze(p, 1) * unsqueeze(p, 0);
    const Tensor want = matmul(hessian, o.k) * 0.5;  // 1 / sqrt(4)
    for (int64_t j = 0; j < 5; ++j) {
      const Tensor dq = grad(select(select(A, 0, i), 0, j), {q}, {}, {.retain_graph = true})[0];
      check.that(dq.defined(), "no gradient reaches q");
      if (!dq.defined()) return check.outcome();
      check.close("dA_ij/dq_i", select(dq, 0, i), select(want, 0, j), 1e-12);
    }
  }
  return check.outcome();
}

// The gradient of the output, and the gradient of that gradient, against finite differences.
Outcome gradients(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  const Operands o = operands(seed, {1, 4, 3});
  const TensorFunction attend = [&](const std::vector<Tensor>& x) {
    return subject.attend(x[0], x[1], x[2], subject.mask(4, 4, 0)).output;
  };
  const GradCheckResult first = grad_check(attend, {o.q, o.k, o.v});
  const int64_t elements = 3 * o.q.numel();
  check.derivatives("", first, elements);
  if (!first.ok) return check.outcome();
  const GradCheckResult second = grad_grad_check(attend, {o.q, o.k, o.v});
  check.derivatives("second derivative: ", second, elements + o.q.numel());
  return check.outcome();
}

// The same for every projection and bias of a multi-head attention.
Outcome parameter_gradients(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  Generator generator(seed);
  const Projections p = random_projections(4, 2, 1, generator, DType::f64);
  const Tensor x = randn({1, 3, 4}, generator, DType::f64);
  const std::vector<Tensor> variables = {x, p.query, p.key, p.value_bias, p.output_bias};
  int64_t elements = 0;
  for (const Tensor& variable : variables) elements += variable.numel();
  const GradCheckResult result = grad_check(
      [&](const std::vector<Tensor>& t) {
        Projections trial = p;
        trial.query = t[1];
        trial.key = t[2];
        trial.value_bias = t[3];
        trial.output_bias = t[4];
        return subject.multi_head(trial, t[0], 0);
      },
      variables);
  check.derivatives("", result, elements);
  return check.outcome();
}

// A query that may attend to no key has weights 0 and output 0, exactly.
Outcome empty_rows(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  const Operands o = operands(seed, {1, 4, 8});
  const Tensor mask = from_vector<bool>({false, false, false, false, true, false, false, false,
                                         true, true, false, false, true, true, true, true},
                                        {4, 4});
  const attention::AttentionResult r = subject.attend(o.q, o.k, o.v, mask);
  check.all_zero("weights of an empty row", select(r.weights, 1, 0));
  check.all_zero("output of an empty row", select(r.output, 1, 0));
  return check.outcome();
}

// The instrument itself: a comparison with NaN must fail.
Outcome checker_rejects_nan(const Subject& subject, uint64_t) {
  Checker check(subject);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check.that(!subject.close(nan, 1.0, 1e-6), "NaN is accepted as 1");
  check.that(!subject.close(1.0, nan, 1e-6), "1 is accepted as NaN");
  check.that(!subject.close(1.0, 2.0, 1e-6), "1 is accepted as 2");
  check.that(subject.close(1.0, 1.0, 0.0), "1 is not accepted as 1");
  return check.outcome();
}

}  // namespace

std::vector<Theorem> simplex_theorems() {
  return {
      {"checker", "The checker rejects NaN", "numbers", true, 0, false, checker_rejects_nan},
      {"simplex",
       "Rows of A are distributions: A >= 0, rows sum to 1, exactly 0 above the diagonal",
       "q, k, v (2, 8, 16)", false, 1e-6, false, simplex},
      {"hull", "Output rows stay in the convex hull of the values they may see",
       "q, k, v (1, 8, 16)", false, 1e-12, false, convex_hull},
      {"scale", "Var(q.k) = d_k: scores divided by sqrt(d_k) have variance 1",
       "2048 independent pairs, d_k 16, 64, 256; in standard errors", false, 6, false,
       scale_variance},
      {"shift", "Softmax is invariant to a shift of a row's scores", "q, k, v (1, 8, 16)", false,
       1e-9, false, shift_invariance},
      {"jacobian", "The Jacobian of softmax is diag(p) - p p^T", "q, k, v (5, 4)", false, 1e-12,
       false, softmax_jacobian},
      {"gradient", "First and second derivatives equal finite differences", "q, k, v (1, 4, 3)",
       false, 1e-6, false, gradients},
      {"parameters", "Gradients of projections and biases equal finite differences",
       "x (1, 3, 4), H 2, H_kv 1", false, 1e-6, true, parameter_gradients},
      {"empty row", "A query without keys has weights 0 and output 0", "mask (4, 4)", true, 0,
       false, empty_rows},
  };
}

}  // namespace lookback::tools
