#include "engine/shape.h"

#include "engine/error.h"

namespace lookback {

Shape::Shape(std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) push_back(size);
}

Shape::Shape(const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) push_back(size);
}

Shape Shape::filled(int64_t rank, int64_t value) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(value);
  return shape;
}

int64_t Shape::numel() const {
  int64_t product = 1;
  bool empty = false;
  for (const int64_t size : *this) {
    empty |= size == 0;
    const bool overflows = __builtin_mul_overflow(product, size == 0 ? 1 : size, &product);
    check(!overflows && product <= kMaxElements, "shape", "too many elements; got ", *this);
  }
  return empty ? 0 : product;
}

void Shape::push_back(int64_t size) { insert(rank_, size); }

void Shape::insert(int64_t position, int64_t size) {
  check(rank_ < kMaxRank, "shape", "at most ", kMaxRank, " dimensions are supported");
  ++rank_;
  for (int64_t d = rank_ - 1; d > position; --d) (*this)[d] = (*this)[d - 1];
  (*this)[position] = size;
}

void Shape::erase(int64_t position) {
  for (int64_t d = position; d + 1 < rank_; ++d) (*this)[d] = (*this)[d + 1];
  --rank_;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int64_t d = 0; d < shape.rank(); ++d) out << (d ? ", " : "") << shape[d];
  return out << ']';
}

Strides contiguous_strides(const Shape& shape) {
  Strides strides = shape;
  int64_t step = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    strides[d] = step;
    step *= std::max<int64_t>(1, shape[d]);
  }
  return strides;
}

int64_t resolve_dim(const char* op, int64_t dim, int64_t rank) {
  check_index(dim >= -rank && dim < rank, op, "dimension ", dim,
              " is out of range for a tensor of ", rank, rank == 1 ? " dimension" : " dimensions");
  return dim < 0 ? dim + rank : dim;
}

bool can_broadcast(const Shape& a, const Shape& b) {
  for (int64_t d = 1; d <= std::min(a.rank(), b.rank()); ++d) {
    const int64_t size_a = a[a.rank() - d];
    const int64_t size_b = b[b.rank() - d];
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
  }
  return true;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  check(can_broadcast(a, b), op, "shapes do not broadcast; got ", a, " and ", b);
  const int64_t rank = std::max(a.rank(), b.rank());
  Shape result = Shape::filled(rank, 1);
  for (int64_t d = 1; d <= rank; ++d) {
    const int64_t size_a = d <= a.rank() ? a[a.rank() - d] : 1;
    const int64_t size_b = d <= b.rank() ? b[b.rank() - d] : 1;
    result[rank - d] = size_a == 1 ? size_b : size_a;
  }
  return result;
}

Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target) {
  if (shape == target) return strides;
  Strides result = Shape::filled(target.rank(), 0);
  const int64_t shift = target.rank() - shape.rank();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    result[d + shift] = shape[d] == 1 ? 0 : strides[d];
  }
  return result;
}

}  // namespace lookback
