// Theorems about one row of the attention matrix: it is a distribution, at the right temperature.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops.h"
#include "tools/plot/csv.h"
#include "tools/theorems/operands.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// A >= 0, A 1 = 1, and A is 0 where the mask forbids.
void simplex(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor may = tril(ones({n.tokens, n.tokens})) > 0.5;
    const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
    const Tensor A = subject.attend(o.q, o.k, o.v, mask).weights.detach();
    check.all_zero("negative part of A", minimum(A, zeros({}, dtype)));
    check.close("row sum of A", sum(A, -1), ones({n.batch, n.tokens}, dtype));
    check.all_zero("A above the diagonal", where(may, zeros({}, dtype), A));
  }
}

// Row i of the output lies in the convex hull of the values it may see: in no direction u does it
// reach further than the furthest of them, u . out_i <= max_j u . v_j. The directions are the axes,
// both ways, and as many random ones.
void convex_hull(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
    const Tensor out = subject.attend(o.q, o.k, o.v, mask).output.detach();
    Generator generator(seed + 1);
    const Tensor axes = eye(n.width, dtype);
    const Tensor random = randn({2 * n.width, n.width}, generator, dtype);
    const Tensor directions = transpose(cat({axes, -axes, random}), 0, 1);
    const Tensor reached = matmul(out, directions);  // (B, T, directions)
    const Tensor values = matmul(o.v, directions);
    for (int64_t i = 0; i < n.tokens; ++i) {
      const Tensor row = select(reached, 1, i);
      check.close("u . out_" + std::to_string(i) + " against the furthest value", row,
                  minimum(row, max(narrow(values, 1, 0, i + 1), 1)));
    }
  }
}

constexpr int64_t kSamples = 1024;

// Var(q . k) = d_k for independent entries of variance 1, so scaled scores have variance 1: two
// weights of a row differ by a factor exp(s - s'), whose logarithm has variance 2. Each query here
// has two keys of its own, so that the samples (s - s')^2 / 2 are independent, of mean 1; given q
// they are |q|^2 / d chi-squared, which makes their variance 2 + 6 / d. Counted in standard errors
// a correct scale stays within 6 for all but about one seed in 10^6, as the tail is skewed; one
// that is wrong by a factor of sqrt(2) is 10 away or more.
void scale_variance(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    for (const int64_t d : {n.width / 16, n.width / 4, n.width}) {
      if (d == 0) continue;
      Generator generator(seed + static_cast<uint64_t>(d));
      const Tensor q = randn({kSamples, 1, d}, generator, dtype);
      const Tensor k = randn({kSamples, 2, d}, generator, dtype);
      const Tensor v = ones({kSamples, 2, 1}, dtype);
      const Tensor A = subject.attend(q, k, v, Tensor()).weights.detach();
      const Tensor difference = log(narrow(A, -1, 1, 1)) - log(narrow(A, -1, 0, 1));
      const double variance = mean(to(difference * difference, DType::f64)).item<double>() / 2;
      const double error = std::sqrt((2.0 + 6.0 / static_cast<double>(d)) / kSamples);
      check.expectation("variance of the scores at d_k = " + std::to_string(d) + ": " +
                            plot::exact(static_cast<float>(variance)) + " instead of 1",
                        (variance - 1) / error);
    }
  }
}

// softmax(s + c) = softmax(s): a vector u added to every key adds q . u to every score of a row.
// The shifted scores are large, and rounded as large numbers are: hence the tolerance.
void shift_invariance(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor q = abs(o.q) + 0.5;
    const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
    const Tensor A = subject.attend(q, o.k, o.v, mask).weights;
    for (const double shift : {3.0, -1000.0}) {
      check.close("A after a shift of " + std::to_string(static_cast<int64_t>(shift)),
                  subject.attend(q, o.k + shift, o.v, mask).weights, A);
    }
  }
}

// A query that may attend to no key has weights 0 and output 0, exactly: here the first of a
// triangle without its diagonal.
void empty_rows(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor mask = tril(ones({n.tokens, n.tokens}), -1) > 0.5;
    const attention::AttentionResult r = subject.attend(o.q, o.k, o.v, mask);
    check.all_zero("weights of an empty row", select(r.weights, 1, 0));
    check.all_zero("output of an empty row", select(r.output, 1, 0));
  }
}

// The instrument itself: a comparison with NaN must fail.
void checker_rejects_nan(Checker& check, const Subject& subject, uint64_t, const Sizes&) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check.that(!subject.close(nan, 1.0, 1e-6), "NaN is accepted as 1");
  check.that(!subject.close(1.0, nan, 1e-6), "1 is accepted as NaN");
  check.that(!subject.close(1.0, 2.0, 1e-6), "1 is accepted as 2");
  check.that(subject.close(1.0, 1.0, 0.0), "1 is not accepted as 1");
}

constexpr Sizes kSizes = {.batch = 2, .tokens = 8, .width = 16};
constexpr Sizes kLeast = {.batch = 1, .tokens = 1, .width = 1};

}  // namespace

std::vector<Theorem> simplex_theorems() {
  return {
      {.id = "checker",
       .statement = "The checker rejects NaN",
       .operands = "four pairs of numbers",
       .equality = Equality::bits,
       .scope = Scope::once,
       .check = checker_rejects_nan},
      {.id = "simplex",
       .statement = "Rows of A are distributions: A >= 0, rows sum to 1, exactly 0 above the "
                    "diagonal",
       .operands = "q, k, v (B, T, d)",
       .sizes = kSizes,
       .least = kLeast,
       .equality = Equality::rounding,
       .tolerance = 8,
       .check = simplex},
      {.id = "hull",
       .statement = "Output rows stay in the convex hull of the values they may see",
       .operands = "q, k, v (B, T, d); 4 d directions",
       .sizes = kSizes,
       .least = kLeast,
       .equality = Equality::rounding,
       .tolerance = 8,
       .check = convex_hull},
      {.id = "scale",
       .statement = "Var(q.k) = d_k: scores divided by sqrt(d_k) have variance 1",
       .operands =
           std::to_string(kSamples) + " queries (1, d_k), keys (2, d_k) each; d_k = d, d/4, d/16",
       .sizes = {.width = 256},
       .least = {.width = 1},
       .equality = Equality::statistics,
       .tolerance = 6,
       .check = scale_variance},
      {.id = "shift",
       .statement = "Softmax is invariant to a shift of a row's scores, up to the rounding of the "
                    "shifted ones: here they are some thousands",
       .operands = "q, k, v (B, T, d); keys shifted by 3, -1000",
       .sizes = kSizes,
       .least = kLeast,
       .equality = Equality::rounding,
       .tolerance = 1e5,
       .check = shift_invariance},
      {.id = "empty row",
       .statement = "A query without keys has weights 0 and output 0",
       .operands = "q, k, v (B, T, d), mask (T, T)",
       .sizes = {.batch = 1, .tokens = 4, .width = 8},
       .least = kLeast,
       .equality = Equality::bits,
       .check = empty_rows},
  };
}

}  // namespace lookback::tools
