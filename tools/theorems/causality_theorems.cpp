// Theorems about time: what a position may depend on.
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

struct Model {
  std::string name;
  Projections projections;
  int64_t window;
};

// Heads, grouped heads, multi-query, and a window.
std::vector<Model> models(uint64_t seed, DType dtype) {
  Generator generator(seed);
  std::vector<Model> list;
  for (const int64_t kv_heads : {4, 2, 1}) {
    for (const int64_t window : {0, 3}) {
      list.push_back({"H 4, H_kv " + std::to_string(kv_heads) +
                          (window > 0 ? ", window " + std::to_string(window) : ""),
                      random_projections(16, 4, kv_heads, generator, dtype), window});
    }
  }
  return list;
}

// Whatever token 5 becomes, positions 0 ... 4 keep every bit; position 5 itself does change.
Outcome by_perturbation(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Model& model : models(seed, dtype)) {
      Generator generator(seed + 1);
      const Tensor x = randn({2, 8, 16}, generator, dtype);
      const Tensor before = subject.multi_head(model.projections, x, model.window);
      for (const double amount : {0.5, 1e6}) {
        const Tensor changed = x.clone();
        narrow(changed, 1, 5, 1).copy_(narrow(x, 1, 5, 1) + amount);
        const Tensor after = subject.multi_head(model.projections, changed, model.window);
        check.same_bits(model.name + ", earlier output", narrow(after, 1, 0, 5),
                        narrow(before, 1, 0, 5));
        const Tensor moved = select(after, 1, 5) == select(before, 1, 5);
        check.that(sum(moved).item<int64_t>() == 0, model.name + ": token 5 does not see itself");
      }
    }
  }
  return check.outcome();
}

// d out_i / d x_j is exactly 0 for j > i and outside the window, and not 0 inside it.
Outcome by_gradient(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  for (const Model& model : models(seed, DType::f64)) {
    Generator generator(seed + 2);
    const Tensor x = randn({2, 6, 16}, generator, DType::f64).set_requires_grad(true);
    const Tensor out = subject.multi_head(model.projections, x, model.window);
    for (int64_t i = 0; i < 6; ++i) {
      const Tensor loss = sum(select(select(out, 0, 0), 0, i));
      const Tensor dx = grad(loss, {x}, {}, {.retain_graph = true})[0];
      const std::string where = model.name + ", d out_" + std::to_string(i);
      check.all_zero(where + " / d the other sequence", select(dx, 0, 1));
      for (int64_t j = 0; j < 6; ++j) {
        const Tensor part = select(select(dx, 0, 0), 0, j);
        const bool seen = j <= i && (model.window == 0 || j > i - model.window);
        const std::string pair = where + " / d x_" + std::to_string(j);
        if (seen) {
          check.that(sum(abs(part)).item<double>() > 0, pair + " is 0");
        } else {
          check.all_zero(pair, part);
        }
      }
    }
  }
  return check.outcome();
}

// Query i of a window W sees exactly the keys i - W + 1 ... i; without one, exactly 0 ... i.
Outcome visible_keys(const Subject& subject, uint64_t) {
  Checker check(subject);
  for (const int64_t window : {0, 1, 3}) {
    const std::vector<bool> may = subject.mask(4, 7, window).to_vector<bool>();
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        const int64_t position = i + 3;  // the last query sees the last key
        const bool want = j <= position && (window == 0 || j > position - window);
        check.that(may[static_cast<size_t>(i * 7 + j)] == want,
                   "window " + std::to_string(window) + ", query " + std::to_string(i) +
                       " of 4, key " + std::to_string(j) +
                       " of 7: " + (want ? "masked" : "visible"));
      }
    }
  }
  return check.outcome();
}

// A window of one key returns the values themselves.
Outcome window_of_one(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  Generator generator(seed);
  const Tensor q = randn({1, 6, 8}, generator, DType::f64);
  const Tensor k = randn({1, 6, 8}, generator, DType::f64);
  const Tensor v = randn({1, 6, 8}, generator, DType::f64);
  check.same_bits("output", subject.attend(q, k, v, subject.mask(6, 6, 1)).output, v);
  return check.outcome();
}

}  // namespace

std::vector<Theorem> causality_theorems() {
  return {
      {"perturbation", "Changing token 5 changes no bit before it, and itself does change",
       "x (2, 8, 16); H 4; H_kv 4, 2, 1; window none, 3", true, 0, true, by_perturbation},
      {"causal gradient", "d out_i / d x_j is exactly 0 for j > i, and nonzero where j is seen",
       "x (2, 6, 16); every i, j; H_kv 4, 2, 1; window none, 3", true, 0, true, by_gradient},
      {"visible keys", "The mask is aligned at the bottom right and a window shows W keys",
       "mask (4, 7); W none, 1, 3", true, 0, false, visible_keys},
      {"window of one", "A window of one key returns v", "q, k, v (1, 6, 8)", true, 0, false,
       window_of_one},
  };
}

}  // namespace lookback::tools
