// Linear: y = x W^T + b.
#pragma once

#include "nn/module.h"

namespace lookback::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = DType::f32;
};

class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out, Generator& generator, LinearOptions options = {});

  Tensor forward(const Tensor& x) const;  // (..., in) -> (..., out)

  Tensor weight;  // (out, in)
  Tensor bias;    // (out); undefined without bias
};

}  // namespace lookback::nn
