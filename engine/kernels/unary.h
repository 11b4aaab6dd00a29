// Functions of one element, over runs of n contiguous elements: y[i] = f(x[i]).
//
// The output may be one of the inputs, but must not overlap one otherwise. The bits of an element
// depend on its value alone, not on where it stands in the run. Special values are those of
// the C library: exp(-inf) = +0, log(0) = -inf, and NaN in is NaN out (relu included).
//
// Largest errors measured, in units in the last place, for float and double: exp 0.8 and 1.0,
// log 0.8 and 0.8, tanh 2.2 and 2.5, sigmoid 2.0 and 2.3. The tests hold them to 1, 1, 3 and 3.
// A target without fma instructions stays within the same bounds, but has other bits.
#pragma once

#include <cstdint>

namespace lookback::kernels {

void exp_run(int64_t n, const float* x, float* y);
void exp_run(int64_t n, const double* x, double* y);
void log_run(int64_t n, const float* x, float* y);
void log_run(int64_t n, const double* x, double* y);
void sqrt_run(int64_t n, const float* x, float* y);
void sqrt_run(int64_t n, const double* x, double* y);
void tanh_run(int64_t n, const float* x, float* y);
void tanh_run(int64_t n, const double* x, double* y);
void sigmoid_run(int64_t n, const float* x, float* y);
void sigmoid_run(int64_t n, const double* x, double* y);
void relu_run(int64_t n, const float* x, float* y);
void relu_run(int64_t n, const double* x, double* y);
void neg_run(int64_t n, const float* x, float* y);
void neg_run(int64_t n, const double* x, double* y);
void abs_run(int64_t n, const float* x, float* y);
void abs_run(int64_t n, const double* x, double* y);

// Gradients. dx = dy where x > 0 and else 0: selected, never multiplied, so that 0 * inf cannot be.
void relu_backward_run(int64_t n, const float* x, const float* dy, float* dx);
void relu_backward_run(int64_t n, const double* x, const double* dy, double* dx);

// From the output y = tanh(x): dx = dy (1 - y^2).
void tanh_backward_run(int64_t n, const float* y, const float* dy, float* dx);
void tanh_backward_run(int64_t n, const double* y, const double* dy, double* dx);

// From the output y = sigmoid(x): dx = dy y (1 - y).
void sigmoid_backward_run(int64_t n, const float* y, const float* dy, float* dx);
void sigmoid_backward_run(int64_t n, const double* y, const double* dy, double* dx);

// The plain twins, for T = float and double.
template <class T>
void exp_run_reference(int64_t n, const T* x, T* y);
template <class T>
void log_run_reference(int64_t n, const T* x, T* y);
template <class T>
void sqrt_run_reference(int64_t n, const T* x, T* y);
template <class T>
void tanh_run_reference(int64_t n, const T* x, T* y);
template <class T>
void sigmoid_run_reference(int64_t n, const T* x, T* y);
template <class T>
void relu_run_reference(int64_t n, const T* x, T* y);
template <class T>
void neg_run_reference(int64_t n, const T* x, T* y);
template <class T>
void abs_run_reference(int64_t n, const T* x, T* y);
template <class T>
void relu_backward_run_reference(int64_t n, const T* x, const T* dy, T* dx);
template <class T>
void tanh_backward_run_reference(int64_t n, const T* y, const T* dy, T* dx);
template <class T>
void sigmoid_backward_run_reference(int64_t n, const T* y, const T* dy, T* dx);

}  // namespace lookback::kernels
