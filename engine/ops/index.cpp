// Picking elements by integer index. The gradient of picking is adding back: an element picked
// twice gets both contributions, in the order of the index.
#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

void check_index_dtype(const char* op, const Tensor& index) {
  check(index.dtype() == DType::i64, op, "the index must be i64; got ", index.dtype());
}

// Throws std::out_of_range, naming the index and the size, unless all are in [0, size).
void check_in_range(const char* op, const Tensor& index, int64_t size) {
  const int64_t* values = index.data<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    check_index(values[i] >= 0 && values[i] < size, op, "index ", values[i],
                " is out of range for size ", size);
  }
}

// y[index[i]] += rows[i], y of shape (count, C): what embedding undoes;  drows = dy[index]
Tensor add_rows(const Tensor& rows, const Tensor& index, int64_t count) {
  const int64_t C = rows.size(-1);
  const Tensor source = rows.detach().contiguous();
  const Tensor y = zeros({count, C}, rows.dtype());
  visit_number("add_rows", rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    for (int64_t i = 0; i < index.numel(); ++i, from += C) {
      T* to = y.data<T>() + index.data<int64_t>()[i] * C;
      for (int64_t c = 0; c < C; ++c) to[c] += from[c];
    }
  });
  return record("add_rows", y, {rows}, [index = Saved(index)](const Tensor& dy) -> Gradients {
    return {embedding(dy, index)};
  });
}

// Calls visit(i, j) with the row-major position i of each element of index (last dimension: the
// indexed one), and the position j that it picks in a contiguous tensor with `size` there.
template <class Visit>
void for_each_pick(const Tensor& index, int64_t size, const Shape& outer, const Visit& visit) {
  const int64_t n = index.shape().back();
  const int64_t rows = n == 0 ? 0 : index.numel() / n;
  const int64_t* values = index.data<int64_t>();
  for (int64_t r = 0; r < rows; ++r) {
    int64_t row = 0;  // the row of the indexed tensor: its outer sizes may be larger
    int64_t rest = r;
    int64_t step = 1;
    for (int64_t d = outer.rank() - 2; d >= 0; --d) {
      row += rest % index.shape()[d] * step;
      rest /= index.shape()[d];
      step *= outer[d];
    }
    for (int64_t i = 0; i < n; ++i) visit(r * n + i, row * size + values[r * n + i]);
  }
}

Tensor gather_last(const Tensor& x, const Tensor& index);

// y (of this shape) gets x's elements added where index points: what gather_last undoes.
Tensor scatter_add_last(const Tensor& x, const Tensor& index, const Shape& shape) {
  const Tensor source = x.detach().contiguous();
  const Tensor y = zeros(shape, x.dtype());
  visit_number("scatter_add", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* to = y.data<T>();
    for_each_pick(index, shape.back(), shape, [&](int64_t i, int64_t j) { to[j] += from[i]; });
  });
  return record("scatter_add", y, {x}, [index = Saved(index)](const Tensor& dy) -> Gradients {
    return {gather_last(dy, index)};
  });
}

Tensor gather_last(const Tensor& x, const Tensor& index) {
  const Tensor source = x.detach().contiguous();
  const Tensor y = empty(index.shape(), x.dtype());
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = source.data<T>();
    T* to = y.data<T>();
    for_each_pick(index, x.shape().back(), x.shape(),
                  [&](int64_t i, int64_t j) { to[i] = from[j]; });
  });
  return record("gather", y, {x},
                [index = Saved(index), shape = x.shape()](const Tensor& dy) -> Gradients {
                  return {scatter_add_last(dy, index, shape)};
                });
}

}  // namespace

// y[..., c] = weight[index[...], c];  dweight[index[...], c] += dy[..., c]
Tensor embedding(const Tensor& weight, const Tensor& index) {
  check(weight.dim() == 2, "embedding", "the weight must be (V, C); got ", weight.shape());
  check_index_dtype("embedding", index);
  const Tensor rows = index.contiguous();
  const int64_t V = weight.size(0);
  const int64_t C = weight.size(1);
  for (int64_t i = 0; i < rows.numel(); ++i) {
    const int64_t row = rows.data<int64_t>()[i];
    check_index(row >= 0 && row < V, "embedding", "index ", row, " is out of range for a table of ",
                V, " rows");
  }
  const Tensor table = weight.detach().contiguous();
  Shape shape = index.shape();
  shape.push_back(C);
  const Tensor y = empty(shape, weight.dtype());
  visit(weight.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < rows.numel(); ++i) {
      std::copy_n(table.data<T>() + rows.data<int64_t>()[i] * C, C, y.data<T>() + i * C);
    }
  });
  return record("embedding", y, {weight}, [index = Saved(rows), V](const Tensor& dy) -> Gradients {
    return {add_rows(dy, index, V)};
  });
}

// y[i, j] = x[i, index[i, j]] for dim 1 of two;  dx[i, index[i, j]] += dy[i, j]
Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = resolve_dim("gather", dim, x.dim());
  check_index_dtype("gather", index);
  bool fits = index.dim() == x.dim();
  for (int64_t e = 0; fits && e < x.dim(); ++e) fits = e == d || index.size(e) <= x.size(e);
  check(fits, "gather", "the index must fit x except in dimension ", d, "; got ", index.shape(),
        " and ", x.shape());
  const Tensor last = transpose(index, d, -1).contiguous();
  check_in_range("gather", last, x.size(d));
  return transpose(gather_last(transpose(x, d, -1), last), d, -1);
}

// y[.., i, ..] = x[.., index[i], ..]: an embedding whose table is x, seen with `dim` in front
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  const int64_t d = resolve_dim("index_select", dim, x.dim());
  check_index_dtype("index_select", index);
  check(index.dim() == 1, "index_select", "the index must have one dimension; got ", index.shape());
  check_in_range("index_select", index.contiguous(), x.size(d));
  const Tensor front = transpose(x, 0, d);
  Shape shape = front.shape();
  int64_t width = 1;
  for (int64_t e = 1; e < shape.rank(); ++e) width *= shape[e];
  const Tensor rows = embedding(reshape(front, {shape[0], width}), index);
  shape[0] = index.numel();
  return transpose(reshape(rows, shape), 0, d);
}

}  // namespace lookback
