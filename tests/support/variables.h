// Short ways to make the small tensors that tests are about: float64, with the values in sight.
#pragma once

#include <utility>
#include <vector>

#include "engine/tensor.h"

namespace lookback::test {

inline Tensor constant(std::vector<double> values, const Shape& shape) {
  return from_vector(values, shape);
}

inline Tensor constant(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return constant(std::move(values), {count});
}

// The same, and gradients are wanted.
inline Tensor variable(std::vector<double> values, const Shape& shape) {
  return constant(std::move(values), shape).set_requires_grad(true);
}

inline Tensor variable(std::vector<double> values) {
  return constant(std::move(values)).set_requires_grad(true);
}

// A variable of one element and no dimension.
inline Tensor scalar(double value) { return variable({value}, {}); }

}  // namespace lookback::test
