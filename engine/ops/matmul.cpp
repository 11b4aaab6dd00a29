// Matrix multiplication, batched and broadcast.
#include <vector>

#include "engine/backward.h"
#include "engine/kernels/gemm.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

// The last two dimensions of x as the kernel sees them: any strides, so transposes are free.
template <class T>
kernels::Matrix<T> matrix(const Tensor& x) {
  const int64_t r = x.dim();
  return {x.data<T>(), x.strides()[r - 2], x.strides()[r - 1]};
}

Shape batch_shape(const Tensor& x) {
  Shape shape = x.shape();
  shape.erase(x.dim() - 1);
  shape.erase(x.dim() - 2);
  return shape;
}

// Where each matrix of a (broadcast) batch starts, in elements.
std::vector<int64_t> batch_offsets(const Tensor& x, const Shape& batch) {
  Strides strides = x.strides();
  strides.erase(x.dim() - 1);
  strides.erase(x.dim() - 2);
  strides = broadcast_strides(batch_shape(x), strides, batch);
  std::vector<int64_t> offsets(static_cast<size_t>(batch.numel()));
  for (size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (int64_t d = batch.rank() - 1; d >= 0; --d) {
      offsets[i] += rest % batch[d] * strides[d];
      rest /= batch[d];
    }
  }
  return offsets;
}

// True if the rows of all matrices in the batch x have one common stride: then a product with a
// single matrix is one tall product.
bool is_one_tall_matrix(const Tensor& x) {
  int64_t step = x.strides()[x.dim() - 2] * x.size(x.dim() - 2);
  for (int64_t d = x.dim() - 3; d >= 0; --d) {
    if (x.size(d) != 1 && x.strides()[d] != step) return false;
    step *= x.size(d);
  }
  return true;
}

// (..., M, K) x (..., K, N), both of at least two dimensions.
Tensor multiply(const Tensor& a, const Tensor& b) {
  const int64_t M = a.size(-2);
  const int64_t K = a.size(-1);
  const int64_t N = b.size(-1);
  const Shape batch = broadcast_shapes("matmul", batch_shape(a), batch_shape(b));
  Shape shape = batch;
  shape.push_back(M);
  shape.push_back(N);
  const Tensor y = empty(shape, a.dtype());
  visit_float("matmul", a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t matrices = batch.numel();
    if (matrices == 1 || (b.dim() == 2 && is_one_tall_matrix(a))) {
      kernels::gemm(matrices * M, N, K, matrix<T>(a), matrix<T>(b), y.data<T>(), N);
      return;
    }
    const std::vector<int64_t> offsets_a = batch_offsets(a, batch);
    const std::vector<int64_t> offsets_b = batch_offsets(b, batch);
    kernels::gemm_batched(matrices, M, N, K, matrix<T>(a), offsets_a.data(), matrix<T>(b),
                          offsets_b.data(), y.data<T>(), N, M * N);
  });
  return y;
}

Tensor t(const Tensor& x) { return transpose(x, -2, -1); }

// a^T dy, summed over the batch if b had none. If b is a transposed view (x W^T), the same
// numbers are laid out as b is: W's gradient then comes out contiguous.
Tensor gradient_of_right(const Tensor& a, const Tensor& b, const Tensor& dy) {
  const bool fold = b.dim() == 2 && a.dim() > 2;
  const int64_t rows = batch_shape(a).numel() * a.size(-2);
  const Tensor rows_a = fold ? reshape(a, {rows, a.size(-1)}) : a;
  const Tensor rows_dy = fold ? reshape(dy, {rows, dy.size(-1)}) : dy;
  const bool transposed = b.strides()[b.dim() - 2] == 1 && b.strides()[b.dim() - 1] != 1;
  const Tensor db = transposed ? t(matmul(t(rows_dy), rows_a)) : matmul(t(rows_a), rows_dy);
  return reduce_to_shape(db, b.shape());
}

}  // namespace

// y = a b;  da = dy b^T, db = a^T dy, summed over broadcast batch dimensions
Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), "matmul", "dtypes must match; got ", a.dtype(), " and ", b.dtype());
  check(a.dim() >= 1 && b.dim() >= 1, "matmul", "needs at least one dimension; got ", a.shape(),
        " and ", b.shape());
  check(a.size(-1) == b.size(b.dim() == 1 ? 0 : -2), "matmul", "inner dimensions must match; got ",
        a.shape(), " and ", b.shape());
  if (a.dim() == 1) return squeeze(matmul(unsqueeze(a, 0), b), b.dim() == 1 ? 0 : -2);
  if (b.dim() == 1) return squeeze(matmul(a, unsqueeze(b, 1)), -1);
  check(can_broadcast(batch_shape(a), batch_shape(b)), "matmul",
        "the dimensions before the last two must broadcast; got ", a.shape(), " and ", b.shape());
  return record("matmul", multiply(a, b), {a, b},
                [a = Saved(a), b = Saved(b)](const Tensor& dy) -> Gradients {
                  Tensor da;
                  Tensor db;
                  if (a.requires_grad()) da = reduce_to_shape(matmul(dy, t(b)), a.get().shape());
                  if (b.requires_grad()) db = gradient_of_right(a, b, dy);
                  return {da, db};
                });
}

}  // namespace lookback
