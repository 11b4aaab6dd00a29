// Tensor: a strided view of a shared storage, and a pointer into the autograd graph.
//
// A Tensor is a cheap handle: copying it shares the elements. Elements change only through
// fill_() and copy_(); every op (ops.h) returns a new tensor, or a view of its input.
// Distinct tensors may be used from distinct threads; one tensor may be read by many.
#pragma once

#include <iosfwd>
#include <memory>
#include <vector>

#include "engine/dtype.h"
#include "engine/random.h"
#include "engine/shape.h"
#include "engine/storage.h"

namespace lookback {

struct Node;
struct TensorImpl;

class Tensor {
 public:
  // An undefined tensor: no shape, no elements; stands for "none" (no mask, no gradient).
  Tensor() = default;
  bool defined() const { return impl_ != nullptr; }

  // Throws std::invalid_argument on an undefined tensor, as do all members below.
  const Shape& shape() const;
  const Strides& strides() const;  // in elements
  int64_t dim() const;             // the number of dimensions
  int64_t size(int64_t dim) const;
  int64_t numel() const;
  DType dtype() const;
  bool is_contiguous() const;  // row-major without gaps

  // --- Elements -----------------------------------------------------------------------------
  // The first element. REQUIRES: T is the C++ type of dtype(). Strides apply. For reading, and for
  // filling a tensor that is not yet shared: version() does not see what is written here.
  template <class T>
  T* data() const;
  // The value of a one-element tensor, converted to T (dtype.h: convert).
  template <class T>
  T item() const;
  // All elements in logical row-major order, converted to T.
  template <class T>
  std::vector<T> to_vector() const;

  // In-place changes; they are refused on tensors that are part of a recorded graph, unless
  // under NoGradGuard, and return *this. copy_ broadcasts `source` and converts its dtype.
  const Tensor& fill_(double value) const;
  const Tensor& copy_(const Tensor& source) const;
  // Counts in-place changes of the storage, by this tensor or any view of it.
  uint64_t version() const;

  // --- Copies -------------------------------------------------------------------------------
  Tensor detach() const;      // the same elements, outside the graph
  Tensor clone() const;       // a contiguous copy; differentiable
  Tensor contiguous() const;  // *this if it is contiguous, else clone()

  // --- Gradients ----------------------------------------------------------------------------
  bool requires_grad() const;
  // Makes this leaf a variable, or a constant again, which drops its .grad(). Floating-point only.
  const Tensor& set_requires_grad(bool requires_grad) const;
  bool is_leaf() const;  // not the result of a recorded op
  // What backward() has accumulated into this leaf; undefined if nothing.
  Tensor grad() const;
  void zero_grad() const;  // grad() becomes undefined
  // Accumulates dL/dx into .grad() of every leaf x under this tensor L (backward.h).
  void backward() const;
  void backward(const Tensor& seed, bool retain_graph = false, bool create_graph = false) const;

  // --- For the engine -----------------------------------------------------------------------
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  TensorImpl& impl() const;
  const std::shared_ptr<Node>& node() const;  // null: a constant
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  // No other handle, and no view, sees these elements.
  bool is_unshared() const;

 private:
  std::shared_ptr<TensorImpl> impl_;
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  std::byte* data;  // the first element of this view
  Shape shape;
  Strides strides;
  int64_t numel;
  DType dtype;
  bool contiguous;
  std::shared_ptr<Node> node;  // how this tensor was made; null: a constant
  ~TensorImpl();
};

// --- Factories: new contiguous constants ------------------------------------------------------
Tensor empty(const Shape& shape, DType dtype = DType::f32);  // not initialised
Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
Tensor arange(int64_t end, DType dtype = DType::i64);  // [0, 1, ..., end - 1]
Tensor arange(int64_t start, int64_t end, DType dtype = DType::i64);
Tensor eye(int64_t n, DType dtype = DType::f32);
// The lower triangle of the last two dimensions, other elements 0: keeps j <= i + diagonal.
Tensor tril(const Tensor& x, int64_t diagonal = 0);
// T: float, double, int64_t, int (gives i64), bool or uint8_t (give boolean).
// Throws std::invalid_argument unless the vector has shape.numel() elements.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);
// Normal(0, 1) and Uniform[lo, hi): element i takes the generator's i-th draw.
Tensor randn(const Shape& shape, Generator& generator, DType dtype = DType::f32);
Tensor uniform(const Shape& shape, double lo, double hi, Generator& generator,
               DType dtype = DType::f32);

// A view of x's storage: the same elements under other sizes, strides and first element
// (`shift` elements after x's own). Not recorded: the view ops in ops.h are built on it.
Tensor make_view(const Tensor& x, const Shape& shape, const Strides& strides, int64_t shift = 0);

// Prints values and shape like PyTorch; long tensors are summarised.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

inline TensorImpl& Tensor::impl() const {
  check(defined(), "tensor", "this tensor is undefined");
  return *impl_;
}
inline const Shape& Tensor::shape() const { return impl().shape; }
inline const Strides& Tensor::strides() const { return impl().strides; }
inline int64_t Tensor::dim() const { return shape().rank(); }
inline int64_t Tensor::numel() const { return impl().numel; }
inline DType Tensor::dtype() const { return impl().dtype; }
inline bool Tensor::is_contiguous() const { return impl().contiguous; }
inline uint64_t Tensor::version() const { return impl().storage->version(); }
inline const std::shared_ptr<Node>& Tensor::node() const { return impl().node; }
inline bool Tensor::requires_grad() const { return node() != nullptr; }
inline bool Tensor::is_unshared() const {
  return impl_.use_count() == 1 && impl().storage.use_count() == 1;
}

template <class T>
T* Tensor::data() const {
  check(dtype_of<T>() == dtype(), "data", "asked for ", dtype_of<T>(), " elements of a tensor of ",
        dtype());
  return reinterpret_cast<T*>(impl().data);
}

}  // namespace lookback
