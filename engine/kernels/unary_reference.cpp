// The plain twin of unary.cpp: for each i, y[i] = f(x[i]), with f from the C library.
#include "engine/kernels/unary.h"

#include <cmath>

namespace lookback::kernels {

template <class T>
void exp_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}

template <class T>
void log_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::log(x[i]);
}

template <class T>
void sqrt_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::sqrt(x[i]);
}

template <class T>
void tanh_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::tanh(x[i]);
}

// Of 1 / (1 + exp(-x)) = exp(x) / (1 + exp(x)) the form whose exp cannot overflow.
template <class T>
void sigmoid_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) {
    const T e = std::exp(-std::abs(x[i]));
    y[i] = (x[i] < 0 ? e : T{1}) / (T{1} + e);
  }
}

template <class T>
void relu_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? T{0} : x[i];
}

template <class T>
void neg_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = -x[i];
}

template <class T>
void abs_run_reference(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = std::abs(x[i]);
}

template <class T>
void relu_backward_run_reference(int64_t n, const T* x, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = x[i] > 0 ? dy[i] : T{0};
}

template <class T>
void tanh_backward_run_reference(int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * (T{1} - y[i] * y[i]);
}

template <class T>
void sigmoid_backward_run_reference(int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * (y[i] * (T{1} - y[i]));
}

template void exp_run_reference(int64_t, const float*, float*);
template void exp_run_reference(int64_t, const double*, double*);
template void log_run_reference(int64_t, const float*, float*);
template void log_run_reference(int64_t, const double*, double*);
template void sqrt_run_reference(int64_t, const float*, float*);
template void sqrt_run_reference(int64_t, const double*, double*);
template void tanh_run_reference(int64_t, const float*, float*);
template void tanh_run_reference(int64_t, const double*, double*);
template void sigmoid_run_reference(int64_t, const float*, float*);
template void sigmoid_run_reference(int64_t, const double*, double*);
template void relu_run_reference(int64_t, const float*, float*);
template void relu_run_reference(int64_t, const double*, double*);
template void neg_run_reference(int64_t, const float*, float*);
template void neg_run_reference(int64_t, const double*, double*);
template void abs_run_reference(int64_t, const float*, float*);
template void abs_run_reference(int64_t, const double*, double*);
template void relu_backward_run_reference(int64_t, const float*, const float*, float*);
template void relu_backward_run_reference(int64_t, const double*, const double*, double*);
template void tanh_backward_run_reference(int64_t, const float*, const float*, float*);
template void tanh_backward_run_reference(int64_t, const double*, const double*, double*);
template void sigmoid_backward_run_reference(int64_t, const float*, const float*, float*);
template void sigmoid_backward_run_reference(int64_t, const double*, const double*, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void exp_run(int64_t n, const float* x, float* y) { exp_run_reference(n, x, y); }
void exp_run(int64_t n, const double* x, double* y) { exp_run_reference(n, x, y); }
void log_run(int64_t n, const float* x, float* y) { log_run_reference(n, x, y); }
void log_run(int64_t n, const double* x, double* y) { log_run_reference(n, x, y); }
void sqrt_run(int64_t n, const float* x, float* y) { sqrt_run_reference(n, x, y); }
void sqrt_run(int64_t n, const double* x, double* y) { sqrt_run_reference(n, x, y); }
void tanh_run(int64_t n, const float* x, float* y) { tanh_run_reference(n, x, y); }
void tanh_run(int64_t n, const double* x, double* y) { tanh_run_reference(n, x, y); }
void sigmoid_run(int64_t n, const float* x, float* y) { sigmoid_run_reference(n, x, y); }
void sigmoid_run(int64_t n, const double* x, double* y) { sigmoid_run_reference(n, x, y); }
void relu_run(int64_t n, const float* x, float* y) { relu_run_reference(n, x, y); }
void relu_run(int64_t n, const double* x, double* y) { relu_run_reference(n, x, y); }
void neg_run(int64_t n, const float* x, float* y) { neg_run_reference(n, x, y); }
void neg_run(int64_t n, const double* x, double* y) { neg_run_reference(n, x, y); }
void abs_run(int64_t n, const float* x, float* y) { abs_run_reference(n, x, y); }
void abs_run(int64_t n, const double* x, double* y) { abs_run_reference(n, x, y); }
void relu_backward_run(int64_t n, const float* x, const float* dy, float* dx) {
  relu_backward_run_reference(n, x, dy, dx);
}
void relu_backward_run(int64_t n, const double* x, const double* dy, double* dx) {
  relu_backward_run_reference(n, x, dy, dx);
}
void tanh_backward_run(int64_t n, const float* y, const float* dy, float* dx) {
  tanh_backward_run_reference(n, y, dy, dx);
}
void tanh_backward_run(int64_t n, const double* y, const double* dy, double* dx) {
  tanh_backward_run_reference(n, y, dy, dx);
}
void sigmoid_backward_run(int64_t n, const float* y, const float* dy, float* dx) {
  sigmoid_backward_run_reference(n, y, dy, dx);
}
void sigmoid_backward_run(int64_t n, const double* y, const double* dy, double* dx) {
  sigmoid_backward_run_reference(n, y, dy, dx);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
