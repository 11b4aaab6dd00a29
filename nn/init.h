// How parameters begin.
#pragma once

#include "engine/tensor.h"

namespace lookback::nn {

// Uniform in [-1/sqrt(fan_in), 1/sqrt(fan_in)): the variance of a sum over fan_in products stays
// of the order of its inputs' (LeCun et al. 1998, section 4.6; PyTorch's default for Linear).
Tensor uniform_fan_in(const Shape& shape, int64_t fan_in, Generator& generator, DType dtype);

}  // namespace lookback::nn
