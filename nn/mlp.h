// MLP: the position-wise network of a transformer block, gelu(x W1^T + b1) W2^T + b2.
#pragma once

#include "nn/linear.h"

namespace lookback::nn {

class MLP : public Module {
 public:
  // `hidden` is usually 4 x width.
  MLP(int64_t width, int64_t hidden, Generator& generator, LinearOptions options = {});

  Tensor forward(const Tensor& x) const;  // (..., width) -> (..., width)

  Linear up;    // width -> hidden
  Linear down;  // hidden -> width
};

}  // namespace lookback::nn
