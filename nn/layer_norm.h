// LayerNorm: normalisation over the last dimension, with a learned scale and shift.
#pragma once

#include "nn/module.h"

namespace lookback::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  DType dtype = DType::f32;
};

class LayerNorm : public Module {
 public:
  explicit LayerNorm(int64_t width, LayerNormOptions options = {});

  Tensor forward(const Tensor& x) const;  // (..., width) -> (..., width)

  Tensor weight;  // (width), begins as 1
  Tensor bias;    // (width), begins as 0

 private:
  double eps_;
};

}  // namespace lookback::nn
