#include "engine/grad_check.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/backward.h"
#include "engine/ops.h"

namespace lookback {
namespace {

// Between 0.5 and 1.5, different from element to element.
Tensor asymmetric_seed(const Shape& shape) {
  Generator generator(20240229);
  return uniform(shape, 0.5, 1.5, generator, DType::f64);
}

// Fresh float64 copies, so that nudging an element disturbs nobody.
std::vector<Tensor> copies(const std::vector<Tensor>& inputs, bool variables) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs) {
    if (!x.defined() || !is_floating(x.dtype())) {
      result.push_back(x);
      continue;
    }
    Tensor copy = to(x.detach(), DType::f64).clone();
    if (variables) copy.set_requires_grad(true);
    result.push_back(copy);
  }
  return result;
}

bool is_variable(const Tensor& x) { return x.defined() && is_floating(x.dtype()); }

double weighted_sum(const Tensor& y, const Tensor& seed) {
  const NoGradGuard no_grad;
  return sum(to(y, DType::f64) * seed).item<double>();
}

std::string coordinates(const Shape& shape, int64_t index) {
  Shape position = shape;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    position[d] = index % shape[d];
    index /= shape[d];
  }
  std::ostringstream text;
  text << position;
  return text.str();
}

// Compares one analytic element with its central difference.
void compare(GradCheckResult& result, double analytic, double numeric, size_t input,
             const Shape& shape, int64_t index, const GradCheckOptions& options) {
  const double error = std::abs(analytic - numeric);
  result.largest_error = std::max(result.largest_error, error);
  const double bound = options.absolute_tolerance + options.relative_tolerance * std::abs(numeric);
  if (error <= bound || !result.ok) return;  // a NaN fails: it is not <= anything
  std::ostringstream text;
  text.precision(12);
  text << "gradient of input " << input << " at " << coordinates(shape, index) << ": analytic "
       << analytic << ", numeric " << numeric << ", difference " << error << " > " << bound;
  result.ok = false;
  result.message = text.str();
}

}  // namespace

GradCheckResult grad_check(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                           GradCheckOptions options) {
  const std::vector<Tensor> variables = copies(inputs, true);
  std::vector<Tensor> wanted;
  for (const Tensor& x : variables) {
    if (is_variable(x)) wanted.push_back(x);
  }
  const RecordingGuard recording;  // also where the caller records nothing
  const Tensor y = fn(variables);
  const Tensor seed = asymmetric_seed(y.shape());
  if (!y.requires_grad()) {
    return {false, 0, "the result does not depend on any input by recorded ops"};
  }
  const std::vector<Tensor> gradients = grad(y, wanted, to(seed, y.dtype()));

  GradCheckResult result;
  const std::vector<Tensor> nudged = copies(inputs, false);
  size_t next = 0;
  for (size_t i = 0; i < nudged.size(); ++i) {
    if (!is_variable(nudged[i])) continue;
    const Tensor& gradient = gradients[next++];
    const std::vector<double> analytic =
        gradient.defined() ? gradient.to_vector<double>()
                           : std::vector<double>(static_cast<size_t>(nudged[i].numel()), 0.0);
    double* elements = nudged[i].data<double>();
    const NoGradGuard no_grad;
    for (int64_t e = 0; e < nudged[i].numel(); ++e) {
      const double original = elements[e];
      elements[e] = original + options.step;
      const double above = weighted_sum(fn(nudged), seed);
      elements[e] = original - options.step;
      const double below = weighted_sum(fn(nudged), seed);
      elements[e] = original;
      compare(result, analytic[static_cast<size_t>(e)], (above - below) / (2 * options.step), i,
              nudged[i].shape(), e, options);
    }
  }
  return result;
}

GradCheckResult grad_grad_check(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                                GradCheckOptions options) {
  Shape output_shape;
  {
    const NoGradGuard no_grad;
    output_shape = fn(copies(inputs, false)).shape();
  }
  // g(inputs..., dy) = all gradients of fn in one vector
  const TensorFunction gradient_of_fn = [&](const std::vector<Tensor>& all) {
    std::vector<Tensor> variables(all.begin(), all.end() - 1);
    std::vector<Tensor> wanted;
    for (Tensor& x : variables) {
      if (!is_variable(x)) continue;
      if (!x.requires_grad()) x = x.detach().set_requires_grad(true);
      wanted.push_back(x);
    }
    // Finite differences call this under NoGradGuard; the inner gradient still needs a graph.
    const RecordingGuard recording;
    const Tensor y = fn(variables);
    const std::vector<Tensor> gradients = grad(y, wanted, all.back(), {.create_graph = true});
    std::vector<Tensor> flat;
    for (size_t i = 0; i < wanted.size(); ++i) {
      flat.push_back(gradients[i].defined() ? reshape(gradients[i], {wanted[i].numel()})
                                            : zeros({wanted[i].numel()}, DType::f64));
    }
    return cat(flat);
  };
  std::vector<Tensor> all = inputs;
  all.push_back(asymmetric_seed(output_shape));
  const TensorFunction with_zero = [&](const std::vector<Tensor>& x) {
    // A gradient that is constant in everything (that of a sum) is still a recorded function.
    Tensor anchor = sum(x.back()) * 0.0;
    return gradient_of_fn(x) + anchor;
  };
  return grad_check(with_zero, all, options);
}

}  // namespace lookback
