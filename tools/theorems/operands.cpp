#include "tools/theorems/operands.h"

namespace lookback::tools {

Operands random_operands(uint64_t seed, const Sizes& n, DType dtype) {
  const Shape shape = n.batch == 0 ? Shape{n.tokens, n.width} : Shape{n.batch, n.tokens, n.width};
  Generator generator(seed);
  Operands o;
  o.q = randn(shape, generator, dtype);
  o.k = randn(shape, generator, dtype);
  o.v = randn(shape, generator, dtype);
  return o;
}

std::vector<int64_t> halvings(int64_t n) {
  std::vector<int64_t> list = {n};
  while (list.back() % 2 == 0) list.push_back(list.back() / 2);
  if (list.back() != 1) list.push_back(1);
  return list;
}

std::vector<Model> models(uint64_t seed, const Sizes& n, DType dtype) {
  Generator generator(seed);
  const int64_t D = n.heads * n.width;
  std::vector<Model> list;
  for (const int64_t heads : halvings(n.heads)) {
    for (const int64_t kv_heads : halvings(heads)) {
      for (const int64_t window : {0, 3}) {
        list.push_back({"H " + std::to_string(heads) + ", H_kv " + std::to_string(kv_heads) +
                            (window > 0 ? ", window " + std::to_string(window) : ""),
                        random_projections(D, heads, kv_heads, generator, dtype), window});
      }
    }
  }
  return list;
}

Tensor random_tokens(uint64_t seed, const Sizes& n, DType dtype) {
  Generator generator(seed);
  return randn({n.batch, n.tokens, n.heads * n.width}, generator, dtype);
}

}  // namespace lookback::tools
