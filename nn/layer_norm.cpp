#include "nn/layer_norm.h"

#include "engine/ops.h"

namespace lookback::nn {

LayerNorm::LayerNorm(int64_t width, LayerNormOptions options) : eps_(options.eps) {
  check(width >= 1, "layer_norm", "width must be at least 1; got ", width);
  check(options.eps >= 0, "layer_norm", "eps must not be negative; got ", options.eps);
  weight = register_parameter("weight", ones({width}, options.dtype));
  bias = register_parameter("bias", zeros({width}, options.dtype));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  return lookback::layer_norm(x, weight, bias, eps_);
}

}  // namespace lookback::nn
