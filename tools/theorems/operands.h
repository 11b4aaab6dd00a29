// Random operands of the theorems, from sizes and a seed.
#pragma once

#include <array>

#include "engine/random.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {

// Theorems are checked in both, wherever they do not say otherwise.
inline constexpr std::array<DType, 2> kPrecisions = {DType::f32, DType::f64};

struct Operands {
  Tensor q, k, v;  // (B, T, d), or (T, d) if no batch occurs
};
Operands random_operands(uint64_t seed, const Sizes& n, DType dtype);

// n, n/2, n/4 ... and 1: numbers of heads, of which each divides those before it.
std::vector<int64_t> halvings(int64_t n);

// The option matrix of multi-head attention: one head or many, each with keys of its own, shared by
// groups, or by all (multi-query), with and without a window; all of width H d.
struct Model {
  std::string name;
  Projections projections;
  int64_t window;
};
std::vector<Model> models(uint64_t seed, const Sizes& n, DType dtype);
inline constexpr const char* kModelsText =
    "heads H, H/2, 1; H_kv from as many to 1; window none, 3";

Tensor random_tokens(uint64_t seed, const Sizes& n, DType dtype);  // (B, T, H d)

}  // namespace lookback::tools
