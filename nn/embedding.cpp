#include "nn/embedding.h"

#include "engine/ops.h"

namespace lookback::nn {

Embedding::Embedding(int64_t count, int64_t width, Generator& generator, DType dtype) {
  check(count >= 1 && width >= 1, "embedding", "count and width must be at least 1; got ", count,
        " and ", width);
  weight = register_parameter("weight", randn({count, width}, generator, dtype));
}

Tensor Embedding::forward(const Tensor& index) const { return lookback::embedding(weight, index); }

}  // namespace lookback::nn
