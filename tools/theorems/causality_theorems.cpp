// Theorems about time: what a position may depend on.
#include <algorithm>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/theorems/operands.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// Whether query i may see key j.
bool sees(int64_t i, int64_t j, int64_t window) {
  return j <= i && (window == 0 || j > i - window);
}

// Whatever token 5 becomes, positions 0 ... 4 keep every bit; those that see it do change.
void by_perturbation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const int64_t token = std::min<int64_t>(5, n.tokens - 1);
  for (const DType dtype : kPrecisions) {
    for (const Model& model : models(seed, n, dtype)) {
      const Tensor x = random_tokens(seed + 1, n, dtype);
      const attention::AttentionResult before =
          subject.multi_head(model.projections, x, model.window);
      const std::string earlier = model.name + ", before token " + std::to_string(token);
      for (const double amount : {0.5, 1e6}) {
        const Tensor changed = x.clone();
        narrow(changed, 1, token, 1).copy_(narrow(x, 1, token, 1) + amount);
        const attention::AttentionResult after =
            subject.multi_head(model.projections, changed, model.window);
        check.same_bits(earlier + ", output", narrow(after.output, 1, 0, token),
                        narrow(before.output, 1, 0, token));
        if (after.weights.defined()) {
          check.same_bits(earlier + ", weights", narrow(after.weights, 2, 0, token),
                          narrow(before.weights, 2, 0, token));
        }
        for (int64_t i = token; i < n.tokens && amount < 1; ++i) {
          const Tensor differs = select(after.output, 1, i) != select(before.output, 1, i);
          const bool moved = sum(differs).item<int64_t>() > 0;
          check.that(moved == sees(i, token, model.window),
                     model.name + ": changing token " + std::to_string(token) +
                         (moved ? " moves" : " does not move") + " output " + std::to_string(i));
        }
      }
    }
  }
}

// d out_i / d x_j is exactly 0 for j > i and outside the window, and not 0 inside it.
void by_gradient(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    for (const Model& model : models(seed, n, dtype)) {
      const Tensor x = random_tokens(seed + 2, n, dtype).set_requires_grad(true);
      const Tensor out = subject.multi_head(model.projections, x, model.window).output;
      for (int64_t i = 0; i < n.tokens; ++i) {
        const Tensor loss = sum(select(select(out, 0, 0), 0, i));
        const Tensor dx = grad(loss, {x}, {}, {.retain_graph = true})[0];
        const std::string where = model.name + ", d out_" + std::to_string(i);
        check.all_zero(where + " / d another sequence", narrow(dx, 0, 1, n.batch - 1));
        for (int64_t j = 0; j < n.tokens; ++j) {
          const Tensor part = select(select(dx, 0, 0), 0, j);
          const std::string pair = where + " / d x_" + std::to_string(j);
          if (sees(i, j, model.window)) {
            check.that(max(abs(part)).item<double>() > 0, pair + " is 0");
          } else {
            check.all_zero(pair, part);
          }
        }
      }
    }
  }
}

// Query i of a window W sees exactly the keys i - W + 1 ... i; without one, exactly 0 ... i. Where
// keys are more than queries, the last query is at the last key.
void visible_keys(Checker& check, const Subject& subject, uint64_t, const Sizes& n) {
  const int64_t Tk = n.tokens;
  for (const int64_t Tq : {Tk, (Tk + 1) / 2}) {
    for (const int64_t window : {0, 1, 3}) {
      const std::vector<bool> may = subject.mask(Tq, Tk, window).to_vector<bool>();
      for (int64_t i = 0; i < Tq; ++i) {
        for (int64_t j = 0; j < Tk; ++j) {
          const bool want = sees(i + Tk - Tq, j, window);
          check.that(may[static_cast<size_t>(i * Tk + j)] == want,
                     "window " + (window > 0 ? std::to_string(window) : "none") + ", query " +
                         std::to_string(i) + " of " + std::to_string(Tq) + ", key " +
                         std::to_string(j) + " of " + std::to_string(Tk) + ": " +
                         (want ? "masked" : "visible"));
        }
      }
    }
  }
}

// A window of one key returns the values themselves.
void window_of_one(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const Tensor mask = subject.mask(n.tokens, n.tokens, 1);
    check.same_bits("output", subject.attend(o.q, o.k, o.v, mask).output, o.v);
  }
}

// What a query may not see may be anything. The score of a NaN key is replaced, whatever it is. A
// NaN value is never read on the fused path; the composed path multiplies it by a weight of exactly
// 0, and 0 * NaN is NaN.
void hidden_nan(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const int64_t last = n.tokens - 1;
  const Tensor mask = subject.mask(n.tokens, n.tokens, 0);
  for (const DType dtype : kPrecisions) {
    const Operands o = random_operands(seed, n, dtype);
    const auto with_nan_at_the_end = [&](const Tensor& x) {
      const Tensor changed = x.clone();
      narrow(changed, 1, last, 1).fill_(std::numeric_limits<double>::quiet_NaN());
      return changed;
    };
    const auto earlier = [&](const Tensor& k, const Tensor& v) {
      return narrow(subject.attend(o.q, k, v, mask).output, 1, 0, last);
    };
    const Tensor clean = earlier(o.k, o.v);
    check.same_bits("output with NaN in a masked key", earlier(with_nan_at_the_end(o.k), o.v),
                    clean);
    const Tensor tainted = earlier(o.k, with_nan_at_the_end(o.v));
    if (subject.fused) {
      check.same_bits("output with NaN in a masked value", tainted, clean);
    } else {
      check.that(sum(tainted != tainted).item<int64_t>() == tainted.numel(),
                 "0 * NaN is not NaN in the output");
    }
  }
}

}  // namespace

std::vector<Theorem> causality_theorems() {
  return {
      {.id = "perturbation",
       .statement = "Changing token 5 changes no bit before it, and each output that sees it",
       .operands = "x (B, T, H d); " + std::string(kModelsText),
       .sizes = {.batch = 2, .heads = 4, .tokens = 8, .width = 4},
       .least = {.batch = 1, .heads = 1, .tokens = 1, .width = 1},
       .scope = Scope::multi_head,
       .check = by_perturbation},
      {.id = "causal gradient",
       .statement = "d out_i / d x_j is exactly 0 for j > i, and nonzero where j is seen",
       .operands = "x (B, T, H d), every i, j; " + std::string(kModelsText),
       .sizes = {.batch = 2, .heads = 4, .tokens = 6, .width = 4},
       .least = {.batch = 1, .heads = 1, .tokens = 1, .width = 1},
       .scope = Scope::multi_head,
       .check = by_gradient},
      {.id = "visible keys",
       .statement = "The mask is aligned at the bottom right and a window shows W keys",
       .operands = "masks (T, T) and (T/2, T); W none, 1, 3",
       .sizes = {.tokens = 7},
       .least = {.tokens = 1},
       .scope = Scope::once,
       .check = visible_keys},
      {.id = "window of one",
       .statement = "A window of one key returns v",
       .operands = "q, k, v (B, T, d)",
       .sizes = {.batch = 1, .tokens = 6, .width = 8},
       .least = {.batch = 1, .tokens = 1, .width = 1},
       .check = window_of_one},
      {.id = "hidden NaN",
       .statement = "A NaN in a masked key changes no bit before it; in a masked value it changes "
                    "none on the fused path, and makes the composed output NaN, as 0 * NaN is",
       .operands = "q, k, v (B, T, d), the last key or value NaN",
       .sizes = {.batch = 1, .tokens = 6, .width = 8},
       .least = {.batch = 1, .tokens = 1, .width = 1},
       .check = hidden_nan},
  };
}

}  // namespace lookback::tools
