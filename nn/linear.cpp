#include "nn/linear.h"

#include "engine/ops.h"
#include "nn/init.h"

namespace lookback::nn {

Linear::Linear(int64_t in, int64_t out, Generator& generator, LinearOptions options) {
  check(in >= 1 && out >= 1, "linear", "widths must be at least 1; got ", in, " and ", out);
  weight = register_parameter("weight", uniform_fan_in({out, in}, in, generator, options.dtype));
  if (options.bias) {
    bias = register_parameter("bias", uniform_fan_in({out}, in, generator, options.dtype));
  }
}

Tensor Linear::forward(const Tensor& x) const {
  check(x.dim() >= 1 && x.size(-1) == weight.size(1), "linear",
        "the last dimension of x must be the weight's input width; got ", x.shape(), " and weight ",
        weight.shape());
  const Tensor product = matmul(x, transpose(weight, 0, 1));  // (..., out)
  return bias.defined() ? product + bias : product;
}

}  // namespace lookback::nn
