// Weights come from the seed in a fixed order: the embeddings, then one head after another.
#include "tools/commands/untrained.h"

#include <cmath>

#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "nn/embedding.h"
#include "tools/plot/axis.h"

namespace lookback::tools {

UntrainedHead untrained_head(const TextSample& sample, uint64_t seed, int64_t head_index,
                             int64_t d_head) {
  const NoGradGuard no_grad;
  Generator generator(seed);
  const nn::Embedding token(sample.vocabulary, kWidth, generator);
  const nn::Embedding position(kMaxContext, kWidth, generator);
  UntrainedHead model;
  model.x = token.forward(sample.index) + position.forward(arange(sample.size()));
  for (int64_t h = 0; h <= head_index; ++h) {
    model.head = std::make_unique<attention::Head>(kWidth, d_head, sample.size(), generator,
                                                   attention::HeadOptions{.fused = false});
  }
  return model;
}

std::string shapes_text(const TextSample& sample) {
  const std::string T = std::to_string(sample.size());
  return "x (1, " + T + ", " + std::to_string(kWidth) + "), d_head " + std::to_string(kHeadWidth) +
         ", A (" + T + ", " + T + ")";
}

std::string model_text(const TextSample& sample, uint64_t seed, int64_t head_index) {
  return "untrained head " + std::to_string(head_index) + ", " + shapes_text(sample) + ", seed " +
         std::to_string(seed);
}

Tensor head_weights(const UntrainedHead& model) {
  const NoGradGuard no_grad;
  model.head->forward(model.x);
  return model.head->weights();
}

Tensor uniform_weights(int64_t T) {
  const Tensor may = to(attention::causal_mask(T, T), DType::f32);
  return may / sum(may, 1, true);
}

Tensor head_scores(const UntrainedHead& model) {
  const NoGradGuard no_grad;
  const Tensor q = model.head->query.forward(model.x);  // (T, d_head)
  const Tensor k = model.head->key.forward(model.x);    // (T, d_head)
  return matmul(q, transpose(k, 0, 1)) * (1.0 / std::sqrt(static_cast<double>(k.size(1))));
}

void compare_with_library(Section& section, const std::string& what, const Tensor& shown,
                          const std::string& name, const Tensor& library) {
  constexpr double kRounding = 1e-5;  // of numbers of order one in float32
  const double off = max(abs(shown - library)).item<double>();
  const std::string by = plot::format_number(off, 2);
  if (off <= kRounding) {
    section.facts.push_back(
        {what + " and " + name + " agree within " + by, {{"difference from " + name, off}}});
    return;
  }
  section.failures.push_back(what + " differs from " + name + " by " + by);  // NaN, too
  section.facts.push_back({section.failures.back(), {{"difference from " + name, off}}});
}

}  // namespace lookback::tools
