// Random operands of the theorems, from sizes and a seed.
#pragma once

#include "engine/random.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {

struct Operands {
  Tensor q, k, v;  // (B, T, d), or (T, d) if no batch occurs
};

inline Operands random_operands(uint64_t seed, const Sizes& n, DType dtype = DType::f64) {
  const Shape shape = n.batch == 0 ? Shape{n.tokens, n.width} : Shape{n.batch, n.tokens, n.width};
  Generator generator(seed);
  Operands o;
  o.q = randn(shape, generator, dtype);
  o.k = randn(shape, generator, dtype);
  o.v = randn(shape, generator, dtype);
  return o;
}

// The numbers of key-value heads that H query heads are checked with: H, H/2, H/4 ... and 1.
inline std::vector<int64_t> kv_head_counts(int64_t H) {
  std::vector<int64_t> list = {H};
  while (list.back() % 2 == 0) list.push_back(list.back() / 2);
  if (list.back() != 1) list.push_back(1);
  return list;
}

}  // namespace lookback::tools
