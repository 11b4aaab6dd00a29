// The model of most experiments: the minimal context (token embedding + learned position embedding)
// and one untrained causal head, on the composed path: experiments look at its steps.
#pragma once

#include <memory>
#include <string>

#include "attention/head.h"
#include "tools/commands/options.h"
#include "tools/report/section.h"

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

// Experiments show the formula step by step, computed by themselves. What they show must be what
// the library computes: one fact that says within how much; beyond rounding, a failure.
//   compare_with_library(section, "the row shown", s.weights, "Head::weights()", weights)
void compare_with_library(Section& section, const std::string& what, const Tensor& shown,
                          const std::string& name, const Tensor& library);

}  // namespace lookback::tools
