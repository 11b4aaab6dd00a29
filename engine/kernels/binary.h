// Functions of two elements, over runs of n: out[i] = f(a[i * a_stride], b[i * b_stride]).
//
// Stride 1 is a contiguous run, stride 0 one value for all; both are fast. Any other stride is
// right but slower. `out` is contiguous and may be an input of stride 1, but must not overlap an
// input otherwise.
#pragma once

#include <cstdint>

namespace lookback::kernels {

void add_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out);
void add_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out);
void sub_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out);
void sub_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out);
void mul_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out);
void mul_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out);
void div_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out);
void div_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out);

// The larger, or the smaller, of a and b; NaN when either is NaN.
void maximum_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                 float* out);
void maximum_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                 double* out);
void minimum_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                 float* out);
void minimum_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                 double* out);

// out[i] = a[i] + scale * b[i], rounded twice: all contiguous, out may be a or b.
void add_scaled_run(int64_t n, const float* a, float scale, const float* b, float* out);
void add_scaled_run(int64_t n, const double* a, double scale, const double* b, double* out);

// out[i] = cond[i] ? a[i] : b[i], with conditions stored as 0 or 1. The value that is not selected
// has no influence, be it NaN.
void select_run(int64_t n, const uint8_t* cond, int64_t cond_stride, const float* a,
                int64_t a_stride, const float* b, int64_t b_stride, float* out);
void select_run(int64_t n, const uint8_t* cond, int64_t cond_stride, const double* a,
                int64_t a_stride, const double* b, int64_t b_stride, double* out);

// The plain twins, for T = float and double.
template <class T>
void add_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out);
template <class T>
void sub_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out);
template <class T>
void mul_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out);
template <class T>
void div_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out);
template <class T>
void maximum_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                           T* out);
template <class T>
void minimum_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                           T* out);
template <class T>
void add_scaled_run_reference(int64_t n, const T* a, T scale, const T* b, T* out);
template <class T>
void select_run_reference(int64_t n, const uint8_t* cond, int64_t cond_stride, const T* a,
                          int64_t a_stride, const T* b, int64_t b_stride, T* out);

}  // namespace lookback::kernels
