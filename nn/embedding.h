// Embedding: a table of learned vectors, one per token.
#pragma once

#include "nn/module.h"

namespace lookback::nn {

class Embedding : public Module {
 public:
  // Elements begin as Normal(0, 1).
  Embedding(int64_t count, int64_t width, Generator& generator, DType dtype = DType::f32);

  Tensor forward(const Tensor& index) const;  // i64 (...) -> (..., width)

  Tensor weight;  // (count, width)
};

}  // namespace lookback::nn
