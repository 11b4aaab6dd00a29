#include "engine/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops/loops.h"
#include "engine/ops/pointwise.h"

namespace lookback {
namespace {

std::shared_ptr<TensorImpl> new_impl(std::shared_ptr<Storage> storage, std::byte* data,
                                     const Shape& shape, const Strides& strides, DType dtype) {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::move(storage);
  impl->data = data;
  impl->shape = shape;
  impl->strides = strides;
  impl->numel = shape.numel();
  impl->dtype = dtype;
  impl->contiguous = true;
  int64_t expected = 1;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] != 1 && strides[d] != expected) impl->contiguous = false;
    expected *= shape[d];
  }
  if (impl->numel == 0) impl->contiguous = true;
  return impl;
}

// to[i] = from[i], broadcast and converted.
void copy_elements(const Tensor& from, const Tensor& to) {
  visit(from.dtype(), [&](auto from_zero) {
    visit(to.dtype(), [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      const From* source = from.data<From>();
      To* target = to.data<To>();
      loops::for_each_run<2>(
          to.shape(), {to.strides(), broadcast_strides(from.shape(), from.strides(), to.shape())},
          [&](const auto& offsets, int64_t n, const auto& steps) {
            To* t = target + offsets[0];
            const From* s = source + offsets[1];
            if constexpr (std::is_same_v<From, To>) {
              if (steps[0] == 1 && steps[1] == 1) {
                std::memcpy(t, s, static_cast<size_t>(n) * sizeof(To));
                return;
              }
            }
            for (int64_t i = 0; i < n; ++i) {
              if constexpr (dtype_of<To>() == DType::boolean) {
                t[i * steps[0]] = s[i * steps[1]] != From{};
              } else {
                t[i * steps[0]] = convert<To>(s[i * steps[1]]);
              }
            }
          });
    });
  });
}

void check_may_change(const char* op, const Tensor& x) {
  check(!grad_enabled() || x.node() == nullptr, op, "this tensor of shape ", x.shape(),
        " is part of a recorded graph; change it under NoGradGuard");
}

}  // namespace

// --- Reading ------------------------------------------------------------------------------------

int64_t Tensor::size(int64_t dim) const {
  return shape()[resolve_dim("size", dim, shape().rank())];
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  const Tensor source = is_contiguous() ? *this : detach().clone();
  std::vector<T> values(static_cast<size_t>(numel()));
  visit(dtype(), [&](auto zero) {
    using From = decltype(zero);
    const From* from = source.data<From>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = convert<T>(from[i]);
  });
  return values;
}

template <class T>
T Tensor::item() const {
  check(numel() == 1, "item", "needs a tensor with one element; got shape ", shape());
  return visit(dtype(), [&](auto zero) { return convert<T>(*data<decltype(zero)>()); });
}

// --- In-place changes ---------------------------------------------------------------------------

const Tensor& Tensor::fill_(double value) const {
  check_may_change("fill_", *this);
  visit(dtype(), [&](auto zero) { pointwise::scalar_as<decltype(zero)>("fill_", value); });
  const Tensor source = full({}, value, dtype());
  Shape once = shape();  // an element that is repeated along a dimension is written once
  for (int64_t d = 0; d < dim(); ++d) {
    if (strides()[d] == 0 && once[d] > 1) once[d] = 1;
  }
  copy_elements(source, make_view(*this, once, strides()));
  impl().storage->bump_version();
  return *this;
}

const Tensor& Tensor::copy_(const Tensor& source) const {
  check_may_change("copy_", *this);
  check(!grad_enabled() || !source.requires_grad(), "copy_",
        "copying is not recorded, and the source requires a gradient; detach() it");
  check(broadcast_shapes("copy_", source.shape(), shape()) == shape(), "copy_",
        "the source must broadcast to this tensor; got ", source.shape(), " and ", shape());
  for (int64_t d = 0; d < dim(); ++d) {
    check(size(d) <= 1 || strides()[d] != 0, "copy_", "this tensor of shape ", shape(),
          " repeats its elements along dimension ", d, "; clone() it first");
  }
  // A source that overlaps this tensor is read before anything is written.
  const bool overlaps = source.impl().storage == impl().storage;
  copy_elements(overlaps ? source.detach().clone() : source, *this);
  impl().storage->bump_version();
  return *this;
}

// --- Copies -------------------------------------------------------------------------------------

Tensor Tensor::detach() const {
  const TensorImpl& x = impl();
  return Tensor(new_impl(x.storage, x.data, x.shape, x.strides, x.dtype));
}

Tensor Tensor::clone() const {
  const Tensor copy = empty(shape(), dtype());
  copy_elements(*this, copy);
  return record("clone", copy, {*this}, [](const Tensor& dy) -> Gradients { return {dy}; });
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor make_view(const Tensor& x, const Shape& shape, const Strides& strides, int64_t shift) {
  const TensorImpl& from = x.impl();
  return Tensor(new_impl(from.storage, from.data + shift * element_size(from.dtype), shape, strides,
                         from.dtype));
}

// --- Gradients ----------------------------------------------------------------------------------

bool Tensor::is_leaf() const { return node() == nullptr || node()->is_leaf(); }

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  check(is_leaf(), "set_requires_grad", "this tensor is the result of an op; detach() it first");
  check(!requires_grad || is_floating(dtype()), "set_requires_grad",
        "only f32 and f64 tensors have gradients; got ", dtype());
  if (requires_grad == this->requires_grad()) return *this;
  impl().node = requires_grad ? std::make_shared<Node>("leaf", *this) : nullptr;
  return *this;
}

Tensor Tensor::grad() const { return requires_grad() ? node()->grad : Tensor(); }

void Tensor::zero_grad() const {
  if (requires_grad()) node()->grad = Tensor();
}

void Tensor::backward() const { lookback::backward(*this); }

void Tensor::backward(const Tensor& seed, bool retain_graph, bool create_graph) const {
  lookback::backward(*this, seed, {.retain_graph = retain_graph, .create_graph = create_graph});
}

// --- Factories ----------------------------------------------------------------------------------

Tensor empty(const Shape& shape, DType dtype) {
  for (const int64_t size : shape) {
    check(size >= 0, "empty", "sizes must not be negative; got ", shape);
  }
  auto storage = std::make_shared<Storage>(shape.numel() * element_size(dtype));
  std::byte* data = storage->data();
  return Tensor(new_impl(std::move(storage), data, shape, contiguous_strides(shape), dtype));
}

Tensor full(const Shape& shape, double value, DType dtype) {
  const Tensor x = empty(shape, dtype);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(x.data<T>(), x.numel(), pointwise::scalar_as<T>("full", value));
  });
  return x;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0.0, dtype); }

Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1.0, dtype); }

Tensor arange(int64_t end, DType dtype) { return arange(0, end, dtype); }

Tensor arange(int64_t start, int64_t end, DType dtype) {
  check(end >= start, "arange", "end must not be below start; got ", start, " and ", end);
  const Tensor x = empty({end - start}, dtype);
  visit_number("arange", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = x.data<T>();
    for (int64_t i = 0; i < end - start; ++i) to[i] = static_cast<T>(start + i);
  });
  return x;
}

Tensor eye(int64_t n, DType dtype) {
  const Tensor x = zeros({n, n}, dtype);
  make_view(x, {n}, {n + 1}).fill_(1.0);
  return x;
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  using Element = std::conditional_t<std::is_same_v<T, bool>, Boolean,
                                     std::conditional_t<std::is_same_v<T, int>, int64_t, T>>;
  for (const int64_t size : shape)
    check(size >= 0, "from_vector", "sizes must not be negative; got ", shape);
  check(static_cast<int64_t>(values.size()) == shape.numel(), "from_vector", values.size(),
        " values do not fill shape ", shape);
  const Tensor x = empty(shape, dtype_of<Element>());
  Element* to = x.data<Element>();
  for (const T value : values) {
    if constexpr (std::is_same_v<Element, Boolean>) {
      *to++ = value ? 1 : 0;
    } else {
      *to++ = static_cast<Element>(value);
    }
  }
  return x;
}

Tensor randn(const Shape& shape, Generator& generator, DType dtype) {
  const Tensor x = empty(shape, dtype);
  visit_float("randn", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = x.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i) to[i] = static_cast<T>(generator.next_normal());
  });
  return x;
}

Tensor uniform(const Shape& shape, double lo, double hi, Generator& generator, DType dtype) {
  check(lo <= hi, "uniform", "lo must not exceed hi; got ", lo, " and ", hi);
  const Tensor x = empty(shape, dtype);
  visit_float("uniform", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = x.data<T>();
    for (int64_t i = 0; i < x.numel(); ++i) {
      // Rounding to T may reach hi itself; the interval is half-open.
      const T value = static_cast<T>(lo + (hi - lo) * generator.next_uniform());
      const T below_hi = std::nextafter(static_cast<T>(hi), static_cast<T>(lo));
      to[i] = value < static_cast<T>(hi) ? value : below_hi;
    }
  });
  return x;
}

template float Tensor::item() const;
template double Tensor::item() const;
template int64_t Tensor::item() const;
template int Tensor::item() const;
template bool Tensor::item() const;
template uint8_t Tensor::item() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<double> Tensor::to_vector() const;
template std::vector<int64_t> Tensor::to_vector() const;
template std::vector<int> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;
template std::vector<uint8_t> Tensor::to_vector() const;
template Tensor from_vector(const std::vector<float>&, const Shape&);
template Tensor from_vector(const std::vector<double>&, const Shape&);
template Tensor from_vector(const std::vector<int64_t>&, const Shape&);
template Tensor from_vector(const std::vector<int>&, const Shape&);
template Tensor from_vector(const std::vector<bool>&, const Shape&);
template Tensor from_vector(const std::vector<uint8_t>&, const Shape&);

}  // namespace lookback
