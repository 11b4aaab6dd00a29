#include "nn/init.h"

#include <cmath>

namespace lookback::nn {

Tensor uniform_fan_in(const Shape& shape, int64_t fan_in, Generator& generator, DType dtype) {
  check(fan_in >= 1, "init", "fan_in must be at least 1; got ", fan_in);
  check(is_floating(dtype), "init", "weights must be f32 or f64; got ", dtype);
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  return uniform(shape, -bound, bound, generator, dtype);
}

}  // namespace lookback::nn
