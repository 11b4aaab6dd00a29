// Checks derivatives against finite differences: yours, too.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace lookback {

using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

struct GradCheckOptions {
  // Central differences err by step^2 f''' / 6 from truncation and about 1e-16 / step from
  // rounding; at 1e-5 both are near 1e-11 for values of order one.
  double step = 1e-5;
  double absolute_tolerance = 1e-6;
  double relative_tolerance = 1e-6;
};

struct GradCheckResult {
  bool ok = true;
  double largest_error = 0;  // |analytic - numeric| over all elements of all inputs
  std::string message;       // where and by how much, if not ok
  explicit operator bool() const { return ok; }
};

// Compares the gradient of L = sum(seed * fn(inputs)) with respect to every element of every
// input to (L(x + h) - L(x - h)) / 2h. The seed is fixed and differs from element to element: a
// symmetric one would let a transposed gradient pass. Inputs are copied, as float64 variables;
// integer and boolean inputs are passed on as they are. fn must be smooth around the inputs (put
// no kink of relu or max within the step), and depend on nothing random.
GradCheckResult grad_check(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                           GradCheckOptions options = {});

// The same for the derivative itself: checks that fn's gradient, as a function of the inputs and
// of the incoming gradient, is differentiated correctly.
GradCheckResult grad_grad_check(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                                GradCheckOptions options = {});

}  // namespace lookback
