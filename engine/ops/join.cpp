// Joining tensors.
#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {

// y = parts side by side along dim;  each part's gradient is its slice of dy
Tensor cat(const std::vector<Tensor>& parts, int64_t dim) {
  check(!parts.empty(), "cat", "needs at least one tensor");
  const Tensor& first = parts[0];
  const int64_t d = resolve_dim("cat", dim, first.dim());
  Shape shape = first.shape();
  shape[d] = 0;
  for (const Tensor& part : parts) {
    check(part.dtype() == first.dtype(), "cat", "dtypes must match; got ", first.dtype(), " and ",
          part.dtype());
    bool fits = part.dim() == first.dim();
    for (int64_t e = 0; fits && e < part.dim(); ++e) fits = e == d || part.size(e) == shape[e];
    check(fits, "cat", "shapes must match except in dimension ", d, "; got ", first.shape(),
          " and ", part.shape());
    shape[d] += part.size(d);
  }
  const Tensor y = empty(shape, first.dtype());
  std::vector<int64_t> starts;
  int64_t start = 0;
  {
    const NoGradGuard no_grad;
    for (const Tensor& part : parts) {
      narrow(y, d, start, part.size(d)).copy_(part);
      starts.push_back(start);
      start += part.size(d);
    }
  }
  starts.push_back(start);
  return record("cat", y, std::span<const Tensor>(parts),
                [d, starts](const Tensor& dy) -> Gradients {
                  Gradients gradients;
                  for (size_t i = 0; i + 1 < starts.size(); ++i) {
                    gradients.push_back(narrow(dy, d, starts[i], starts[i + 1] - starts[i]));
                  }
                  return gradients;
                });
}

// cat along a new dimension
Tensor stack(const std::vector<Tensor>& parts, int64_t dim) {
  check(!parts.empty(), "stack", "needs at least one tensor");
  const int64_t d = resolve_dim("stack", dim, parts[0].dim() + 1);
  std::vector<Tensor> rows;
  for (const Tensor& part : parts) {
    check(part.shape() == parts[0].shape(), "stack", "shapes must match; got ", parts[0].shape(),
          " and ", part.shape());
    rows.push_back(unsqueeze(part, d));
  }
  return cat(rows, d);
}

}  // namespace lookback
