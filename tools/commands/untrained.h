// The model of most experiments: the minimal context (token embedding + learned position embedding)
// and one untrained causal head, on the composed path: experiments look at its steps.
#pragma once

#include <memory>

#include "attention/head.h"
#include "tools/commands/options.h"

namespace lookback::tools {

inline constexpr int64_t kWidth = 32;      // of an embedding
inline constexpr int64_t kHeadWidth = 16;  // of queries, keys and values

struct UntrainedHead {
  Tensor x;  // (T, kWidth)
  std::unique_ptr<attention::Head> head;
};

// Deterministic in the seed; `head_index`: which of the heads drawn from it one after another. The
// start of a longer context of the same text is the same.
UntrainedHead untrained_head(const TextSample& sample, uint64_t seed, int64_t head_index = 0,
                             int64_t d_head = kHeadWidth);

// For titles: "untrained head 0, x (1, 64, 32), d_head 16, A (64, 64), seed 1".
std::string model_text(const TextSample& sample, uint64_t seed, int64_t head_index = 0);
// The same without head and seed, where a figure shows several.
std::string shapes_text(const TextSample& sample);

Tensor head_weights(const UntrainedHead& model);  // (T, T)
// 1 / (i + 1) for every key that query i may see: the baseline of all heads, (T, T).
Tensor uniform_weights(int64_t T);
// q k^T / sqrt(d_k), before any mask: (T, T).
Tensor head_scores(const UntrainedHead& model);

}  // namespace lookback::tools
