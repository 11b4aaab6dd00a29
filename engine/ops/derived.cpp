// Derived ops: composed from the primitives, so that their derivatives need no writing.
#include <algorithm>

#include "engine/ops.h"

namespace lookback {

namespace {

// The number of elements that are reduced into one.
double count_of(const char* op, const Tensor& x, const Dims& dims) {
  check(is_floating(x.dtype()), op, "needs f32 or f64; got ", x.dtype());
  int64_t count = dims.empty() ? x.numel() : 1;
  for (const int64_t d : dims) count *= x.size(resolve_dim(op, d, x.dim()));
  return static_cast<double>(count);
}

}  // namespace

// sum / n
Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) {
  const double count = count_of("mean", x, dims);
  return sum(x, dims, keepdim) / count;
}

// sum (x - mean)^2 / (n - correction): two passes, so that a large mean costs no digits. Of too
// few elements: 0 / 0, NaN.
Tensor var(const Tensor& x, const Dims& dims, bool keepdim, int64_t correction) {
  const double count = count_of("var", x, dims);
  const Tensor deviation = x - mean(x, dims, true);
  return sum(deviation * deviation, dims, keepdim) /
         std::max(count - static_cast<double>(correction), 0.0);
}

// y[.., i, j] = x[.., i, j] where j <= i + diagonal, else 0
Tensor tril(const Tensor& x, int64_t diagonal) {
  check(x.dim() >= 2, "tril", "needs at least two dimensions; got ", x.shape());
  const Tensor row = unsqueeze(arange(x.size(-2)), 1);
  return masked_fill(x, arange(x.size(-1)) - row > static_cast<double>(diagonal), 0.0);
}

// y = x keep / (1 - p), keep drawn as 0 with probability p
Tensor dropout(const Tensor& x, double p, Generator& generator, bool training) {
  check(p >= 0 && p <= 1, "dropout", "the probability must be in [0, 1]; got ", p);
  check(is_floating(x.dtype()), "dropout", "needs f32 or f64; got ", x.dtype());
  if (!training || p == 0) return x;
  const Tensor dropped = uniform(x.shape(), 0, 1, generator, DType::f64) < p;
  return masked_fill(p == 1 ? x : x * (1.0 / (1.0 - p)), dropped, 0.0);
}

}  // namespace lookback
