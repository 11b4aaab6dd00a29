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

// n, n/2, n/4 ... and 1: numbers of heads, of which each divides those before it.
inline std::vector<int64_t> halvings(int64_t n) {
  std::vector<int64_t> list = {n};
  while (list.back() % 2 == 0) list.push_back(list.back() / 2);
  if (list.back() != 1) list.push_back(1);
  return list;
}

}  // namespace lookback::tools
