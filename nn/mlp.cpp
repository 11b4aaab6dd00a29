#include "nn/mlp.h"

#include "engine/ops.h"

namespace lookback::nn {

MLP::MLP(int64_t width, int64_t hidden, Generator& generator, LinearOptions options)
    : up(width, hidden, generator, options), down(hidden, width, generator, options) {
  register_module("up", up);
  register_module("down", down);
}

Tensor MLP::forward(const Tensor& x) const { return down.forward(gelu(up.forward(x))); }

}  // namespace lookback::nn
