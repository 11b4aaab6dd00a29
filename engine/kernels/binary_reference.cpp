// The plain twin of binary.cpp: for each i, out[i] = f(a[i * a_stride], b[i * b_stride]).
#include "engine/kernels/binary.h"

namespace lookback::kernels {

template <class T>
void add_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i * a_stride] + b[i * b_stride];
}

template <class T>
void sub_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i * a_stride] - b[i * b_stride];
}

template <class T>
void mul_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i * a_stride] * b[i * b_stride];
}

template <class T>
void div_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                       T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i * a_stride] / b[i * b_stride];
}

template <class T>
void maximum_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                           T* out) {
  for (int64_t i = 0; i < n; ++i) {
    const T u = a[i * a_stride];
    const T v = b[i * b_stride];
    out[i] = u != u || u > v ? u : v;  // u != u: NaN
  }
}

template <class T>
void minimum_run_reference(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                           T* out) {
  for (int64_t i = 0; i < n; ++i) {
    const T u = a[i * a_stride];
    const T v = b[i * b_stride];
    out[i] = u != u || u < v ? u : v;  // u != u: NaN
  }
}

template <class T>
void add_scaled_run_reference(int64_t n, const T* a, T scale, const T* b, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + scale * b[i];
}

template <class T>
void select_run_reference(int64_t n, const uint8_t* cond, int64_t cond_stride, const T* a,
                          int64_t a_stride, const T* b, int64_t b_stride, T* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = cond[i * cond_stride] != 0 ? a[i * a_stride] : b[i * b_stride];
  }
}

template void add_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void add_run_reference(int64_t, const double*, int64_t, const double*, int64_t, double*);
template void sub_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void sub_run_reference(int64_t, const double*, int64_t, const double*, int64_t, double*);
template void mul_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void mul_run_reference(int64_t, const double*, int64_t, const double*, int64_t, double*);
template void div_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void div_run_reference(int64_t, const double*, int64_t, const double*, int64_t, double*);
template void maximum_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void maximum_run_reference(int64_t, const double*, int64_t, const double*, int64_t,
                                    double*);
template void minimum_run_reference(int64_t, const float*, int64_t, const float*, int64_t, float*);
template void minimum_run_reference(int64_t, const double*, int64_t, const double*, int64_t,
                                    double*);
template void add_scaled_run_reference(int64_t, const float*, float, const float*, float*);
template void add_scaled_run_reference(int64_t, const double*, double, const double*, double*);
template void select_run_reference(int64_t, const uint8_t*, int64_t, const float*, int64_t,
                                   const float*, int64_t, float*);
template void select_run_reference(int64_t, const uint8_t*, int64_t, const double*, int64_t,
                                   const double*, int64_t, double*);

#ifdef LOOKBACK_REFERENCE_KERNELS

void add_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out) {
  add_run_reference(n, a, a_stride, b, b_stride, out);
}
void add_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out) {
  add_run_reference(n, a, a_stride, b, b_stride, out);
}
void sub_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out) {
  sub_run_reference(n, a, a_stride, b, b_stride, out);
}
void sub_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out) {
  sub_run_reference(n, a, a_stride, b, b_stride, out);
}
void mul_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out) {
  mul_run_reference(n, a, a_stride, b, b_stride, out);
}
void mul_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out) {
  mul_run_reference(n, a, a_stride, b, b_stride, out);
}
void div_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
             float* out) {
  div_run_reference(n, a, a_stride, b, b_stride, out);
}
void div_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
             double* out) {
  div_run_reference(n, a, a_stride, b, b_stride, out);
}
void maximum_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                 float* out) {
  maximum_run_reference(n, a, a_stride, b, b_stride, out);
}
void maximum_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                 double* out) {
  maximum_run_reference(n, a, a_stride, b, b_stride, out);
}
void minimum_run(int64_t n, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                 float* out) {
  minimum_run_reference(n, a, a_stride, b, b_stride, out);
}
void minimum_run(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride,
                 double* out) {
  minimum_run_reference(n, a, a_stride, b, b_stride, out);
}
void add_scaled_run(int64_t n, const float* a, float scale, const float* b, float* out) {
  add_scaled_run_reference(n, a, scale, b, out);
}
void add_scaled_run(int64_t n, const double* a, double scale, const double* b, double* out) {
  add_scaled_run_reference(n, a, scale, b, out);
}
void select_run(int64_t n, const uint8_t* cond, int64_t cond_stride, const float* a,
                int64_t a_stride, const float* b, int64_t b_stride, float* out) {
  select_run_reference(n, cond, cond_stride, a, a_stride, b, b_stride, out);
}
void select_run(int64_t n, const uint8_t* cond, int64_t cond_stride, const double* a,
                int64_t a_stride, const double* b, int64_t b_stride, double* out) {
  select_run_reference(n, cond, cond_stride, a, a_stride, b, b_stride, out);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
