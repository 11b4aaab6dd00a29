// Conversion between dtypes.
#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {

// y = x as dtype;  dx = dy as x's dtype. Integers and booleans have no gradient.
Tensor to(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Tensor y = empty(x.shape(), dtype);
  y.copy_(x.detach());
  if (!is_floating(dtype)) return y;
  return record("to", y, {x},
                [from = x.dtype()](const Tensor& dy) -> Gradients { return {to(dy, from)}; });
}

}  // namespace lookback
