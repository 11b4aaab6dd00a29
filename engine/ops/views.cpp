// Views: the same storage under other sizes and strides. Each derivative is the inverse view.
#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

// The gradient of a part: dy in its place in a tensor of zeros. `place` makes the view of the
// whole tensor that dy fills; being linear, it is differentiated by viewing once more.
template <class Place>
Tensor embed(const Tensor& dy, const Shape& whole, const Place& place) {
  const Tensor dx = zeros(whole, dy.dtype());
  {
    const NoGradGuard no_grad;
    place(dx).copy_(dy);
  }
  return record("embed", dx, {dy}, [place](const Tensor& d) -> Gradients { return {place(d)}; });
}

// Strides under which x's elements, in row-major order, have the new shape; false if only a copy
// can have it. Groups of old dimensions that form one block are matched with groups of new ones.
bool reshape_strides(const Tensor& x, const Shape& shape, Strides& strides) {
  if (x.is_contiguous()) {
    strides = contiguous_strides(shape);
    return true;
  }
  const Shape& old_shape = x.shape();
  strides = Shape::filled(shape.rank(), 1);
  int64_t d = shape.rank() - 1;
  int64_t block_size = 1;  // elements of the block of old dimensions seen so far
  int64_t block_step = 0;  // the stride of its last dimension
  for (int64_t o = old_shape.rank() - 1; o >= 0; --o) {
    if (block_size == 1) block_step = x.strides()[o];
    block_size *= old_shape[o];
    const bool block_ends =
        o == 0 || (old_shape[o - 1] != 1 && x.strides()[o - 1] != block_size * block_step);
    if (!block_ends) continue;
    int64_t taken = 1;
    while (d >= 0 && (taken < block_size || shape[d] == 1)) {
      strides[d] = block_step * taken;
      taken *= shape[d--];
    }
    if (taken != block_size) return false;
    block_size = 1;
  }
  return d < 0;
}

// Replaces a size -1 by what is left of numel.
Shape complete_shape(const Tensor& x, Shape shape) {
  const Shape asked = shape;
  int64_t open = -1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    check(asked[d] >= -1 && (asked[d] != -1 || open < 0), "reshape",
          "sizes must not be negative, except for one -1; got ", asked);
    if (asked[d] == -1) open = d;
  }
  if (open >= 0) {
    shape[open] = 1;
    const int64_t known = shape.numel();
    check(known != 0, "reshape", "-1 is ambiguous beside a size of 0; got ", asked);
    shape[open] = x.numel() / known;
  }
  check(shape.numel() == x.numel(), "reshape", "cannot make ", asked, " from shape ", x.shape(),
        " with ", x.numel(), " elements");
  return shape;
}

}  // namespace

// y[.., j, .., i, ..] = x[.., i, .., j, ..]
Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1) {
  const int64_t d0 = resolve_dim("transpose", dim0, x.dim());
  const int64_t d1 = resolve_dim("transpose", dim1, x.dim());
  Shape shape = x.shape();
  Strides strides = x.strides();
  std::swap(shape[d0], shape[d1]);
  std::swap(strides[d0], strides[d1]);
  return record("transpose", make_view(x, shape, strides), {x},
                [d0, d1](const Tensor& dy) -> Gradients { return {transpose(dy, d0, d1)}; });
}

// dimension d of y is dimension dims[d] of x
Tensor permute(const Tensor& x, const Dims& dims) {
  check(dims.size() == x.dim(), "permute", "needs one entry per dimension; got ", dims,
        " for shape ", x.shape());
  Shape shape = x.shape();
  Strides strides = x.strides();
  Dims inverse = dims;
  Shape seen = Shape::filled(x.dim(), 0);
  for (int64_t d = 0; d < dims.size(); ++d) {
    const int64_t from = resolve_dim("permute", dims[d], x.dim());
    check(seen[from]++ == 0, "permute", "dimensions must be distinct; got ", dims);
    shape[d] = x.shape()[from];
    strides[d] = x.strides()[from];
    inverse[from] = d;
  }
  return record("permute", make_view(x, shape, strides), {x},
                [inverse](const Tensor& dy) -> Gradients { return {permute(dy, inverse)}; });
}

// the same elements in row-major order
Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape full_shape = complete_shape(x, shape);
  if (full_shape == x.shape()) return x;
  Strides strides;
  if (!reshape_strides(x, full_shape, strides)) return reshape(x.contiguous(), full_shape);
  return record(
      "reshape", make_view(x, full_shape, strides), {x},
      [old_shape = x.shape()](const Tensor& dy) -> Gradients { return {reshape(dy, old_shape)}; });
}

Tensor unsqueeze(const Tensor& x, int64_t dim) {
  const int64_t d = resolve_dim("unsqueeze", dim, x.dim() + 1);
  Shape shape = x.shape();
  Strides strides = x.strides();
  strides.insert(d, d < x.dim() ? shape[d] * strides[d] : 1);
  shape.insert(d, 1);
  return record("unsqueeze", make_view(x, shape, strides), {x},
                [d](const Tensor& dy) -> Gradients { return {squeeze(dy, d)}; });
}

Tensor squeeze(const Tensor& x, int64_t dim) {
  const int64_t d = resolve_dim("squeeze", dim, x.dim());
  if (x.size(d) != 1) return x;
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(d);
  strides.erase(d);
  return record("squeeze", make_view(x, shape, strides), {x},
                [d](const Tensor& dy) -> Gradients { return {unsqueeze(dy, d)}; });
}

Tensor squeeze(const Tensor& x) {
  Shape shape;
  for (const int64_t size : x.shape()) {
    if (size != 1) shape.push_back(size);
  }
  return reshape(x, shape);
}

// y repeats x along sizes 1;  dx sums dy over the repeats
Tensor expand(const Tensor& x, const Shape& shape) {
  Shape target = shape;
  const int64_t extra = shape.rank() - x.dim();
  check(extra >= 0, "expand", "cannot drop dimensions; got ", x.shape(), " and ", shape);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    check(shape[d] >= -1, "expand", "sizes must not be negative, except for -1; got ", shape);
    if (shape[d] != -1) continue;
    check(d >= extra, "expand", "-1 needs an existing dimension; got ", x.shape(), " and ", shape);
    target[d] = x.shape()[d - extra];
  }
  check(broadcast_shapes("expand", x.shape(), target) == target, "expand", "cannot expand ",
        x.shape(), " to ", shape);
  return record("expand", make_view(x, target, broadcast_strides(x.shape(), x.strides(), target)),
                {x}, [old_shape = x.shape()](const Tensor& dy) -> Gradients {
                  return {reduce_to_shape(dy, old_shape)};
                });
}

// y = x[.., start : start + length, ..];  dx is dy in its place, else 0
Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length) {
  const int64_t d = resolve_dim("narrow", dim, x.dim());
  check_index(start >= 0 && length >= 0 && length <= x.size(d) && start <= x.size(d) - length,
              "narrow", "start ", start, " and length ", length, " do not fit dimension ", d,
              " of shape ", x.shape());
  Shape shape = x.shape();
  shape[d] = length;
  const Tensor y = make_view(x, shape, x.strides(), length == 0 ? 0 : start * x.strides()[d]);
  return record(
      "narrow", y, {x}, [whole = x.shape(), d, start, length](const Tensor& dy) -> Gradients {
        return {embed(dy, whole,
                      [d, start, length](const Tensor& t) { return narrow(t, d, start, length); })};
      });
}

// y = x[.., index, ..];  dx is dy in its place, else 0
Tensor select(const Tensor& x, int64_t dim, int64_t index) {
  const int64_t d = resolve_dim("select", dim, x.dim());
  check_index(index >= -x.size(d) && index < x.size(d), "select", "index ", index,
              " is out of range for dimension ", d, " of shape ", x.shape());
  const int64_t i = index < 0 ? index + x.size(d) : index;
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(d);
  strides.erase(d);
  return record("select", make_view(x, shape, strides, i * x.strides()[d]), {x},
                [whole = x.shape(), d, i](const Tensor& dy) -> Gradients {
                  return {embed(dy, whole, [d, i](const Tensor& t) { return select(t, d, i); })};
                });
}

}  // namespace lookback
