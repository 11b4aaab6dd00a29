// The classic bugs of attention code. Each changes one step of the formula and nothing else.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/kernels/threads.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tools/theorems/subject.h"

namespace lookback::tools {
namespace {

// j - i of key and query positions under an alignment that puts query 0 at `first`.
Tensor offsets(int64_t Tq, int64_t Tk, int64_t first) {
  return arange(Tk) - unsqueeze(arange(first, first + Tq), 1);
}

Tensor within(const Tensor& distance, double high, int64_t window, double slack) {
  const Tensor causal = distance <= high;
  if (window == 0) return causal;
  return logical_and(causal, distance > -static_cast<double>(window) + slack);
}

Tensor raw_scores(const Tensor& q, const Tensor& k) { return matmul(q, transpose(k, -2, -1)); }

double root(int64_t n) { return std::sqrt(static_cast<double>(n)); }

// Softmax of scores whose masked entries hold a finite number.
Tensor fill_finite(const Tensor& scores, const Tensor& mask, double value) {
  return softmax(mask.defined() ? where(mask, scores, full({}, value, scores.dtype())) : scores,
                 -1);
}

// x + b with a backward that forgets to sum the gradient of b over the rows it was broadcast to.
Tensor add_without_reducing(const Tensor& x, const Tensor& b) {
  const NoGradGuard no_grad;
  const Tensor y = x + b;
  const RecordingGuard recording;
  return record("add", y, {x, b}, [shape = b.shape()](const Tensor& dy) -> Gradients {
    const Tensor rows = reshape(dy, {-1, dy.size(-1)});
    return {dy, reshape(select(rows, 0, 0), shape)};
  });
}

// add(name, what is wrong, the step of the formula, its wrong form)
class Mutator {
 public:
  explicit Mutator(std::vector<Subject>& list) : list_(list) {}

  template <class Function, class Wrong>
  void operator()(const char* name, const char* sentence, Function Steps::*step,
                  Wrong wrong) const {
    Steps s = correct_steps();
    s.*step = wrong;
    list_.push_back(assemble(name, sentence, s));
  }

 private:
  std::vector<Subject>& list_;
};

std::vector<Subject> mask_mutants() {
  std::vector<Subject> result;
  const Mutator add(result);
  add("peeks one ahead", "the triangle is one too wide: token i sees token i + 1", &Steps::mask,
      [](int64_t Tq, int64_t Tk, int64_t window) {
        return within(offsets(Tq, Tk, Tk - Tq), 1, window, 0);
      });
  add("blind to itself", "the triangle is one too narrow: token i does not see itself",
      &Steps::mask, [](int64_t Tq, int64_t Tk, int64_t window) {
        return within(offsets(Tq, Tk, Tk - Tq), -1, window, 0);
      });
  add("mask polarity flipped", "true is read as 'masked'", &Steps::mask,
      [](int64_t Tq, int64_t Tk, int64_t window) {
        return logical_not(within(offsets(Tq, Tk, Tk - Tq), 0, window, 0));
      });
  add("aligned top-left", "with a cache, the first new query is taken for the first token",
      &Steps::mask, [](int64_t Tq, int64_t Tk, int64_t window) {
        return within(offsets(Tq, Tk, 0), 0, window, 0);
      });
  add("window off by one", "a window of W shows W + 1 keys", &Steps::mask,
      [](int64_t Tq, int64_t Tk, int64_t window) {
        return within(offsets(Tq, Tk, Tk - Tq), 0, window, -1);
      });
  return result;
}

std::vector<Subject> score_mutants() {
  std::vector<Subject> result;
  const Mutator add(result);
  add("no scale", "scores are not divided by sqrt(d_k)", &Steps::scores,
      [](const Tensor& q, const Tensor& k, int64_t) { return raw_scores(q, k); });
  add("scaled by d_model", "scores are divided by the root of the model's width", &Steps::scores,
      [](const Tensor& q, const Tensor& k, int64_t d_model) {
        return raw_scores(q, k) * (1.0 / root(d_model));
      });
  add("scale off the tape", "the value is scaled, the gradient is not", &Steps::scores,
      [](const Tensor& q, const Tensor& k, int64_t) {
        const Tensor raw = raw_scores(q, k);
        return raw + (raw.detach() * (1.0 / root(q.size(-1))) - raw.detach());
      });
  add("K reshaped", "K is reshaped to (d, T) instead of transposed", &Steps::scores,
      [](const Tensor& q, const Tensor& k, int64_t) {
        Shape shape = k.shape();
        std::swap(shape[k.dim() - 1], shape[k.dim() - 2]);
        return matmul(q, reshape(k, shape)) * (1.0 / root(q.size(-1)));
      });
  return result;
}

std::vector<Subject> weight_mutants() {
  std::vector<Subject> result;
  const Mutator add(result);
  add("mask after softmax", "future weights are zeroed after normalising: rows no longer sum to 1",
      &Steps::weights, [](const Tensor& scores, const Tensor& mask) {
        const Tensor weights = softmax(scores, -1);
        return mask.defined() ? where(mask, weights, zeros({}, scores.dtype())) : weights;
      });
  add("masked with 0", "masked scores are 0 instead of -infinity", &Steps::weights,
      [](const Tensor& scores, const Tensor& mask) { return fill_finite(scores, mask, 0.0); });
  add("masked with -1e4", "masked scores are a large finite number", &Steps::weights,
      [](const Tensor& scores, const Tensor& mask) { return fill_finite(scores, mask, -1e4); });
  add("softmax over queries", "columns are normalised instead of rows", &Steps::weights,
      [](const Tensor& scores, const Tensor& mask) {
        const Tensor never = full({}, -std::numeric_limits<double>::infinity(), scores.dtype());
        return softmax(mask.defined() ? where(mask, scores, never) : scores, -2);
      });
  add("one maximum for all", "scores are shifted by the largest of the whole batch",
      &Steps::weights, [](const Tensor& scores, const Tensor& mask) {
        const Tensor shifted = exp(scores - max(scores.detach()));
        const Tensor kept =
            mask.defined() ? where(mask, shifted, zeros({}, scores.dtype())) : shifted;
        const Tensor total = sum(kept, -1, true);
        return kept / where(total == 0.0, ones({}, scores.dtype()), total);
      });
  return result;
}

// The sum over keys in as many pieces as there are threads.
Tensor mix_by_threads(const Tensor& weights, const Tensor& v) {
  const int64_t pieces = std::min<int64_t>(num_threads(), v.size(-2));
  Tensor total;
  for (int64_t p = 0; p < pieces; ++p) {
    const int64_t begin = v.size(-2) * p / pieces;
    const int64_t count = v.size(-2) * (p + 1) / pieces - begin;
    const Tensor part = matmul(narrow(weights, -1, begin, count), narrow(v, -2, begin, count));
    total = total.defined() ? total + part : part;
  }
  return total;
}

std::vector<Subject> head_mutants() {
  std::vector<Subject> result;
  const Mutator add(result);
  add("weights detached", "the attention matrix in the output is detached", &Steps::mix,
      [](const Tensor& weights, const Tensor& v) { return matmul(weights.detach(), v); });
  add("sum split by threads", "each thread sums its share of the keys", &Steps::mix,
      mix_by_threads);
  add("merged untransposed", "heads are put together without the transpose", &Steps::merge,
      [](const Tensor& x) {
        return reshape(x, {x.size(0), x.size(2), x.size(1) * x.size(3)});
      });
  add("split untransposed", "heads are cut by a reshape, across time", &Steps::split,
      [](const Tensor& x, int64_t num_heads) {
        return reshape(x, {x.size(0), num_heads, x.size(1), x.size(2) / num_heads});
      });
  add("kv heads tiled", "grouped heads are tiled: 0 1 0 1 for 0 0 1 1", &Steps::share,
      [](const Tensor& x, int64_t repeats) {
        return cat(std::vector<Tensor>(static_cast<size_t>(repeats), x), 1);
      });
  add("bias not reduced", "the gradient of a broadcast bias is not summed", &Steps::project,
      [](const Tensor& x, const Tensor& weight, const Tensor& bias) {
        return add_without_reducing(matmul(x, transpose(weight, 0, 1)), bias);
      });
  add("cache off by one", "new keys overwrite the last cached one", &Steps::cache,
      [](const Tensor& past, const Tensor& now) {
        if (!past.defined()) return now;
        return cat({narrow(past, 2, 0, past.size(2) - 1), now, narrow(now, 2, 0, 1)}, 2);
      });
  add("NaN passes", "the checker's comparison is the wrong way round", &Steps::close,
      [](double a, double b, double tolerance) { return !(std::abs(a - b) > tolerance); });
  return result;
}

}  // namespace

std::vector<Subject> mutants() {
  std::vector<Subject> all;
  for (auto family : {mask_mutants, score_mutants, weight_mutants, head_mutants}) {
    for (Subject& subject : family()) all.push_back(std::move(subject));
  }
  return all;
}

}  // namespace lookback::tools
