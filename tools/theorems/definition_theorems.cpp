// Theorems that hold the library to the definition of attention, as plain loops compute it.
#include <algorithm>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/theorems/operands.h"
#include "tools/theorems/plain_attention.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// What the loops need of batch b.
PlainHead plain_head(const Operands& o, int64_t b) {
  const Tensor q = select(o.q, 0, b);
  const Tensor v = select(o.v, 0, b);
  return {q.size(0),
          v.size(0),
          q.size(1),
          v.size(1),
          0,
          q.to_vector<double>(),
          select(o.k, 0, b).to_vector<double>(),
          v.to_vector<double>()};
}

void equation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
    const attention::AttentionResult got = subject.attend(o.q, o.k, o.v, mask);
    for (int64_t b = 0; b < n.batch; ++b) {
      const PlainHead head = plain_head(o, b);
      const std::vector<double> A = head.weights();
      check.close("A", select(got.weights, 0, b), from_vector(A, {n.tokens, n.tokens}));
      check.close("A v", select(got.output, 0, b),
                  from_vector(head.output(A), {n.tokens, n.width}));
    }
  }
}

void gradient_equation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    Operands o = random_operands(seed, n, dtype);
    const Tensor g = random_operands(seed + 1, n, dtype).q;
    for (Tensor* x : {&o.q, &o.k, &o.v}) x->set_requires_grad(true);
    const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
    const Tensor out = subject.attend(o.q, o.k, o.v, mask).output;
    const std::vector<Tensor> got = grad(out, {o.q, o.k, o.v}, g);
    for (int64_t b = 0; b < n.batch; ++b) {
      const PlainGradients want =
          plain_gradients(plain_head(o, b), select(g, 0, b).to_vector<double>());
      const auto compare = [&](const char* name, const Tensor& dx, const std::vector<double>& x) {
        check.that(dx.defined(), std::string("no gradient reaches ") + (name + 1));
        // Terms of order 1 may cancel: the gradient of a row that sees one key is 0.
        if (dx.defined()) {
          check.close(name, select(dx, 0, b), from_vector(x, {n.tokens, n.width}), 1.0);
        }
      };
      compare("dq", got[0], want.dq);
      compare("dk", got[1], want.dk);
      compare("dv", got[2], want.dv);
    }
  }
}

void multi_head_equation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    for (const Model& model : models(seed, n, dtype)) {
      const Tensor x = random_tokens(seed + 3, n, dtype);
      const attention::AttentionResult got = subject.multi_head(model.projections, x, model.window);
      const attention::AttentionResult want = plain_multi_head(model.projections, x, model.window);
      // A sum of terms of order 1, which may cancel.
      check.close(model.name + ", output", got.output, want.output, 1.0);
      if (got.weights.defined()) check.close(model.name + ", weights", got.weights, want.weights);
    }
  }
}

// Longer than a block of keys and wider than a vector, in groups of four, behind a window that is
// itself longer than a vector.
void long_equation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  constexpr int64_t kWindow = 70;
  Generator generator(seed);
  const int64_t kv_heads = std::max<int64_t>(1, n.heads / 4);
  const Projections single =
      random_projections(n.heads * n.width, n.heads, kv_heads, generator, DType::f32);
  const Tensor x = random_tokens(seed + 4, n, DType::f32);
  // Of the same numbers, which double precision holds exactly.
  const attention::AttentionResult want = plain_multi_head(single, x, kWindow);
  for (const DType dtype : kPrecisions) {
    const attention::AttentionResult got =
        subject.multi_head(in_precision(single, dtype), to(x, dtype), kWindow);
    check.close("output", got.output, want.output, 1.0);
    if (got.weights.defined()) check.close("weights", got.weights, want.weights);
  }
}

constexpr Sizes kSizes = {.batch = 2, .tokens = 17, .width = 16};
constexpr Sizes kLeast = {.batch = 1, .tokens = 1, .width = 1};

}  // namespace

std::vector<Theorem> definition_theorems() {
  return {
      {.id = "equation",
       .statement = "Attention is softmax(q k^T / sqrt(d_k) + M) v, as plain loops in double "
                    "precision compute it",
       .operands = "q, k, v (B, T, d); weights and output",
       .sizes = kSizes,
       .least = kLeast,
       .equality = Equality::rounding,
       .tolerance = 32,
       .check = equation},
      {.id = "gradient equation",
       .statement = "Its gradient is the chain rule through diag(p) - p p^T, as plain loops in "
                    "double precision compute it",
       .operands = "q, k, v, gradient of the output (B, T, d)",
       .sizes = kSizes,
       .least = kLeast,
       .equality = Equality::rounding,
       .tolerance = 64,
       .check = gradient_equation},
      {.id = "multi-head equation",
       .statement = "Multi-head attention is Concat(head_1, ..., head_H) W_o, as plain loops in "
                    "double precision compute it",
       .operands = "x (B, T, H d); output and weights; " + std::string(kModelsText),
       .sizes = {.batch = 2, .heads = 4, .tokens = 9, .width = 4},
       .least = {.batch = 1, .heads = 1, .tokens = 1, .width = 1},
       .equality = Equality::rounding,
       .tolerance = 64,
       .scope = Scope::multi_head,
       .check = multi_head_equation},
      {.id = "long equation",
       .statement =
           "The same beyond one block of keys, with groups of four heads and a window of 70",
       .operands = "x (B, T, H d), H_kv H/4",
       .sizes = {.batch = 1, .heads = 8, .tokens = 132, .width = 16},
       .least = {.batch = 1, .heads = 1, .tokens = 1, .width = 1},
       .equality = Equality::rounding,
       .tolerance = 64,
       .scope = Scope::multi_head,
       .check = long_equation},
  };
}

}  // namespace lookback::tools
