// Functions of two elements, vectorised:
//
//   for i in n, one vector at a time, the last one masked
//     out[i] = f(a[i], b[i])     where an input of stride 0 is one vector, loaded once
//
// Inputs of other strides are first copied into a small contiguous buffer, piece by piece.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/binary.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include <algorithm>

#include "engine/kernels/binary.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

inline constexpr int64_t kPiece = 256;

// x itself when it is contiguous, else its next `size` elements, copied into `buffer`.
template <class T>
const T* Contiguous(int64_t size, const T* x, int64_t stride, T* buffer) {
  if (stride == 1) return x;
  for (int64_t i = 0; i < size; ++i) buffer[i] = x[i * stride];
  return buffer;
}

template <class T, class Function>
HWY_INLINE void Zip(int64_t n, const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* out,
                    Function f) {
  const Tag<T> d;
  if (a_stride == 1 && b_stride == 1) {
    return EachVector<T>(n, [=](auto at) HWY_ATTR { at.Store(f(d, at.Load(a), at.Load(b)), out); });
  }
  if (n > 0 && a_stride == 1 && b_stride == 0) {
    const auto all_b = hn::Set(d, *b);
    return EachVector<T>(n, [=](auto at) HWY_ATTR { at.Store(f(d, at.Load(a), all_b), out); });
  }
  if (n > 0 && a_stride == 0 && b_stride == 1) {
    const auto all_a = hn::Set(d, *a);
    return EachVector<T>(n, [=](auto at) HWY_ATTR { at.Store(f(d, all_a, at.Load(b)), out); });
  }
  T a_buffer[kPiece];
  T b_buffer[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t size = std::min(kPiece, n - i);
    const T* piece_a = Contiguous(size, a + i * a_stride, a_stride, a_buffer);
    const T* piece_b = Contiguous(size, b + i * b_stride, b_stride, b_buffer);
    EachVector<T>(size, [=](auto at) HWY_ATTR {
      at.Store(f(d, at.Load(piece_a), at.Load(piece_b)), out + i);
    });
  }
}

template <class T>
void AddScaled(int64_t n, const T* a, T scale, const T* b, T* out) {
  const auto factor = hn::Set(Tag<T>(), scale);
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    at.Store(hn::Add(at.Load(a), hn::Mul(factor, at.Load(b))), out);
  });
}

template <class T>
void Select(int64_t n, const uint8_t* cond, int64_t cond_stride, const T* a, int64_t a_stride,
            const T* b, int64_t b_stride, T* out) {
  if (n > 0 && cond_stride == 1 && a_stride == 0 && b_stride == 1) {  // masked_fill
    const auto all_a = hn::Set(Tag<T>(), *a);
    return EachVector<T>(n, [=](auto at) HWY_ATTR {
      at.Store(hn::IfThenElse(at.LoadCondition(cond), all_a, at.Load(b)), out);
    });
  }
  uint8_t cond_buffer[kPiece];
  T a_buffer[kPiece];
  T b_buffer[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t size = std::min(kPiece, n - i);
    const uint8_t* piece = Contiguous(size, cond + i * cond_stride, cond_stride, cond_buffer);
    const T* piece_a = Contiguous(size, a + i * a_stride, a_stride, a_buffer);
    const T* piece_b = Contiguous(size, b + i * b_stride, b_stride, b_buffer);
    EachVector<T>(size, [=](auto at) HWY_ATTR {
      at.Store(hn::IfThenElse(at.LoadCondition(piece), at.Load(piece_a), at.Load(piece_b)),
               out + i);
    });
  }
}

constexpr auto kAdd = [](auto, auto a, auto b) HWY_ATTR { return hn::Add(a, b); };
constexpr auto kSub = [](auto, auto a, auto b) HWY_ATTR { return hn::Sub(a, b); };
constexpr auto kMul = [](auto, auto a, auto b) HWY_ATTR { return hn::Mul(a, b); };
constexpr auto kDiv = [](auto, auto a, auto b) HWY_ATTR { return hn::Div(a, b); };
constexpr auto kMaximum = [](auto, auto a, auto b) HWY_ATTR {
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Gt(a, b)), a, b);
};
constexpr auto kMinimum = [](auto, auto a, auto b) HWY_ATTR {
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(a, b)), a, b);
};

void AddF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kAdd);
}
void AddF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kAdd);
}
void SubF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kSub);
}
void SubF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kSub);
}
void MulF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kMul);
}
void MulF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kMul);
}
void DivF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kDiv);
}
void DivF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kDiv);
}
void MaximumF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kMaximum);
}
void MaximumF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kMaximum);
}
void MinimumF32(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  Zip(n, a, as, b, bs, out, kMinimum);
}
void MinimumF64(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  Zip(n, a, as, b, bs, out, kMinimum);
}
void AddScaledF32(int64_t n, const float* a, float scale, const float* b, float* out) {
  AddScaled(n, a, scale, b, out);
}
void AddScaledF64(int64_t n, const double* a, double scale, const double* b, double* out) {
  AddScaled(n, a, scale, b, out);
}
void SelectF32(int64_t n, const uint8_t* cond, int64_t cs, const float* a, int64_t as,
               const float* b, int64_t bs, float* out) {
  Select(n, cond, cs, a, as, b, bs, out);
}
void SelectF64(int64_t n, const uint8_t* cond, int64_t cs, const double* a, int64_t as,
               const double* b, int64_t bs, double* out) {
  Select(n, cond, cs, a, as, b, bs, out);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

constexpr int64_t kGrain = 65536;

template <class T>
using Binary = void(int64_t, const T*, int64_t, const T*, int64_t, T*);

template <class T>
void in_chunks(Binary<T>* f, int64_t n, const T* a, int64_t as, const T* b, int64_t bs, T* out) {
  if (n <= kGrain) return f(n, a, as, b, bs, out);
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) {
    f(end - i, a + i * as, as, b + i * bs, bs, out + i);
  });
}

HWY_EXPORT(AddF32);
HWY_EXPORT(AddF64);
HWY_EXPORT(SubF32);
HWY_EXPORT(SubF64);
HWY_EXPORT(MulF32);
HWY_EXPORT(MulF64);
HWY_EXPORT(DivF32);
HWY_EXPORT(DivF64);
HWY_EXPORT(MaximumF32);
HWY_EXPORT(MaximumF64);
HWY_EXPORT(MinimumF32);
HWY_EXPORT(MinimumF64);
HWY_EXPORT(AddScaledF32);
HWY_EXPORT(AddScaledF64);
HWY_EXPORT(SelectF32);
HWY_EXPORT(SelectF64);

template <class T, class Function>
void add_scaled(int64_t n, const T* a, T scale, const T* b, T* out, Function f) {
  parallel_for(n, kGrain,
               [=](int64_t i, int64_t end) { f(end - i, a + i, scale, b + i, out + i); });
}

template <class T, class Function>
void select(int64_t n, const uint8_t* cond, int64_t cs, const T* a, int64_t as, const T* b,
            int64_t bs, T* out, Function f) {
  parallel_for(n, kGrain, [=](int64_t i, int64_t end) {
    f(end - i, cond + i * cs, cs, a + i * as, as, b + i * bs, bs, out + i);
  });
}

}  // namespace

void add_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(AddF32), n, a, as, b, bs, out);
}
void add_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(AddF64), n, a, as, b, bs, out);
}
void sub_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(SubF32), n, a, as, b, bs, out);
}
void sub_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(SubF64), n, a, as, b, bs, out);
}
void mul_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(MulF32), n, a, as, b, bs, out);
}
void mul_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(MulF64), n, a, as, b, bs, out);
}
void div_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(DivF32), n, a, as, b, bs, out);
}
void div_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(DivF64), n, a, as, b, bs, out);
}
void maximum_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(MaximumF32), n, a, as, b, bs, out);
}
void maximum_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(MaximumF64), n, a, as, b, bs, out);
}
void minimum_run(int64_t n, const float* a, int64_t as, const float* b, int64_t bs, float* out) {
  in_chunks<float>(HWY_DYNAMIC_DISPATCH(MinimumF32), n, a, as, b, bs, out);
}
void minimum_run(int64_t n, const double* a, int64_t as, const double* b, int64_t bs, double* out) {
  in_chunks<double>(HWY_DYNAMIC_DISPATCH(MinimumF64), n, a, as, b, bs, out);
}

void add_scaled_run(int64_t n, const float* a, float scale, const float* b, float* out) {
  add_scaled(n, a, scale, b, out, HWY_DYNAMIC_DISPATCH(AddScaledF32));
}

void add_scaled_run(int64_t n, const double* a, double scale, const double* b, double* out) {
  add_scaled(n, a, scale, b, out, HWY_DYNAMIC_DISPATCH(AddScaledF64));
}

void select_run(int64_t n, const uint8_t* cond, int64_t cs, const float* a, int64_t as,
                const float* b, int64_t bs, float* out) {
  select(n, cond, cs, a, as, b, bs, out, HWY_DYNAMIC_DISPATCH(SelectF32));
}

void select_run(int64_t n, const uint8_t* cond, int64_t cs, const double* a, int64_t as,
                const double* b, int64_t bs, double* out) {
  select(n, cond, cs, a, as, b, bs, out, HWY_DYNAMIC_DISPATCH(SelectF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
