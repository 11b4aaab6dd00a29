// Shape: the sizes of a tensor, and Dims: a choice of its dimensions. Plain arithmetic on small
// lists of integers; nothing here knows a tensor.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace lookback {

inline constexpr int64_t kMaxRank = 8;
// More elements than any memory holds; few enough that no count of bytes overflows.
inline constexpr int64_t kMaxElements = int64_t{1} << 56;

// A list of at most kMaxRank integers, stored in place. Prints as "[2, 3]".
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(const std::vector<int64_t>& sizes);
  // `rank` times the same value.
  static Shape filled(int64_t rank, int64_t value);

  int64_t rank() const { return rank_; }
  int64_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  // The product of the sizes; 1 for rank 0. Throws std::invalid_argument above kMaxElements.
  int64_t numel() const;

  // REQUIRES: 0 <= d < rank()
  int64_t operator[](int64_t d) const { return sizes_[position(d)]; }
  int64_t& operator[](int64_t d) { return sizes_[position(d)]; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }
  int64_t back() const { return (*this)[rank_ - 1]; }

  void push_back(int64_t size);
  void insert(int64_t position, int64_t size);
  void erase(int64_t position);
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  size_t position(int64_t d) const {
    assert(0 <= d && d < rank_);
    return static_cast<size_t>(d);
  }

  std::array<int64_t, kMaxRank> sizes_{};
  int64_t rank_ = 0;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

// Steps between neighbours along each dimension, in elements.
using Strides = Shape;

// Dimensions to reduce: one, several, or (an empty list) all. Negative ones count from the end.
class Dims : public Shape {
 public:
  Dims() = default;
  Dims(int64_t dim) : Shape{dim} {}  // NOLINT(google-explicit-constructor): sum(x, -1)
  Dims(std::initializer_list<int64_t> dims) : Shape(dims) {}
};

// Row-major strides of a shape: the last dimension has stride 1; a size 0 counts as 1.
Strides contiguous_strides(const Shape& shape);

// The dimension `dim` of a tensor of that rank, with negative values counted from the end.
// Throws std::out_of_range.
int64_t resolve_dim(const char* op, int64_t dim, int64_t rank);

// Right-aligned, are all sizes equal or 1 (as in NumPy)?
bool can_broadcast(const Shape& a, const Shape& b);
// The shape that both shapes broadcast to.
// Throws std::invalid_argument with both shapes.
Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

// Strides that read a tensor (shape, strides) as if it had the shape `target`: 0 where a size 1
// is repeated. REQUIRES: shape broadcasts to target.
Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& target);

}  // namespace lookback
