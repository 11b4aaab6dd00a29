// How the ops that work element by element are run: outputs are new and contiguous, inputs
// broadcast. For engine/ops/*.cpp only; a reader's own op may copy any neighbour that uses it.
#pragma once

#include "engine/error.h"
#include "engine/ops/loops.h"
#include "engine/tensor.h"

namespace lookback::pointwise {

inline void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), op, "dtypes must match; got ", a.dtype(), " and ", b.dtype());
}

// y = f(x): calls run(n, x, y) on contiguous runs, x and y of type const In* and Out*.
template <class In, class Out, class Run>
Tensor unary(const Tensor& x, const Run& run) {
  const Tensor source = x.is_contiguous() ? x : x.detach().contiguous();
  const Tensor y = empty(x.shape(), dtype_of<Out>());
  const In* from = source.data<In>();
  Out* to = y.data<Out>();
  kernels::parallel_for(x.numel(), loops::kGrain, [&](int64_t begin, int64_t end) {
    run(end - begin, from + begin, to + begin);
  });
  return y;
}

// y = f(a, b), broadcast: calls run(n, a, a_step, b, b_step, y).
template <class A, class B, class Out, class Run>
Tensor binary(const char* op, const Tensor& a, const Tensor& b, const Run& run) {
  const A* from_a = a.data<A>();
  const B* from_b = b.data<B>();
  if (a.shape() == b.shape() && a.is_contiguous() && b.is_contiguous()) {
    const Tensor y = empty(a.shape(), dtype_of<Out>());
    Out* to = y.data<Out>();
    kernels::parallel_for(y.numel(), loops::kGrain, [&](int64_t begin, int64_t end) {
      run(end - begin, from_a + begin, int64_t{1}, from_b + begin, int64_t{1}, to + begin);
    });
    return y;
  }
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  const Tensor y = empty(shape, dtype_of<Out>());
  Out* to = y.data<Out>();
  loops::for_each_run<3>(shape,
                         {y.strides(), broadcast_strides(a.shape(), a.strides(), shape),
                          broadcast_strides(b.shape(), b.strides(), shape)},
                         [&](const auto& offsets, int64_t n, const auto& steps) {
                           run(n, from_a + offsets[1], steps[1], from_b + offsets[2], steps[2],
                               to + offsets[0]);
                         });
  return y;
}

// y = f(x, s) with one number s: calls run(n, x, 1, &s, 0, y).
template <class T, class Out, class Run>
Tensor with_scalar(const Tensor& x, T s, const Run& run) {
  return unary<T, Out>(
      x, [&](int64_t n, const T* from, Out* to) { run(n, from, int64_t{1}, &s, int64_t{0}, to); });
}

// Makes a run out of a plain function of two numbers, for where no kernel is worth it.
template <class F>
auto each(F f) {
  return [f](int64_t n, const auto* a, int64_t a_step, const auto* b, int64_t b_step, auto* y) {
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<std::remove_reference_t<decltype(y[i])>>(f(a[i * a_step], b[i * b_step]));
    }
  };
}

// A plain number as an element of type T. Throws where it would not survive: 0.5 as i64, 2 as
// boolean.
template <class T>
T scalar_as(const char* op, double value) {
  const T element = convert<T>(value);
  if constexpr (std::is_integral_v<T>) {
    check(static_cast<double>(element) == value && (dtype_of<T>() == DType::i64 || element <= 1),
          op, "the number ", value, " does not fit a tensor of ", dtype_of<T>());
  }
  return element;
}

}  // namespace lookback::pointwise
