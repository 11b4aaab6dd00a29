// Softmax and its relatives, vectorised:
//
//   for each row
//     leave out the whole vectors of -inf at its end (masked keys): their exp is 0
//     largest = max of x[k]
//     y[k] = exp(x[k] - largest), and their sum in the fixed order of lane_sum.h
//     y[k] = y[k] / sum
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/softmax.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include <algorithm>
#include <limits>

#include "engine/kernels/softmax.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_math-inl.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
HWY_INLINE T RowMax(int64_t n, const T* x) {
  return LaneFold<T, 2 * kLanes<T>>(n, -std::numeric_limits<T>::infinity(), MaxOp(),
                                    [=](auto at) HWY_ATTR { return at.Load(x); });
}

// n less the whole vectors at the end of the row that hold nothing but -inf.
template <class T>
HWY_INLINE int64_t WithoutMaskedEnd(int64_t n, const T* x) {
  const Tag<T> d;
  const auto masked = hn::Set(d, -std::numeric_limits<T>::infinity());
  while (n >= kSize<Tag<T>> &&
         hn::AllTrue(d, hn::Eq(hn::LoadU(d, x + n - kSize<Tag<T>>), masked))) {
    n -= kSize<Tag<T>>;
  }
  return n;
}

// log(x) with the bits of log_run.
template <class T>
HWY_INLINE T LogOfOne(T x) {
  const Tag<T> d;
  return hn::GetLane(Log(d, hn::Set(d, x)));
}

template <class T>
HWY_INLINE T SumExp(int64_t n, const T* x, T shift) {
  const Tag<T> d;
  const auto all_shift = hn::Set(d, shift);
  return LaneSum<T>(
      n, [=](auto at) HWY_ATTR { return ExpOfNonPositive(d, hn::Sub(at.Load(x), all_shift)); });
}

template <class T>
void Softmax(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y, int64_t y_stride) {
  const Tag<T> d;
  for (int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    const int64_t live = WithoutMaskedEnd(n, x);
    const auto largest = hn::Set(d, RowMax(live, x));
    const T sum = LaneSum<T>(live, [=](auto at) HWY_ATTR {
      const auto e = ExpOfNonPositive(d, hn::Sub(at.Load(x), largest));
      at.Store(e, y);
      return e;
    });
    const auto all_sum = hn::Set(d, sum);
    EachVector<T>(live, [=](auto at) HWY_ATTR { at.Store(hn::Div(at.Load(y), all_sum), y); });
    // 0 / sum: NaN in a row without a distribution.
    std::fill(y + live, y + n, T{0} / sum);
  }
}

template <class T>
void SoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const T sum = LaneSum<T>(n, [=](auto at) HWY_ATTR { return hn::Mul(at.Load(y), at.Load(dy)); });
    const auto all_sum = hn::Set(Tag<T>(), sum);
    EachVector<T>(n, [=](auto at) HWY_ATTR {
      at.Store(hn::Mul(at.Load(y), hn::Sub(at.Load(dy), all_sum)), dx);
    });
  }
}

template <class T>
void LogSoftmax(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y, int64_t y_stride) {
  const Tag<T> d;
  for (int64_t r = 0; r < rows; ++r, x += x_stride, y += y_stride) {
    const int64_t live = WithoutMaskedEnd(n, x);
    const T largest = RowMax(live, x);
    const auto all_largest = hn::Set(d, largest);
    const auto log_sum = hn::Set(d, LogOfOne(SumExp(live, x, largest)));
    EachVector<T>(n, [=](auto at) HWY_ATTR {
      at.Store(hn::Sub(hn::Sub(at.Load(x), all_largest), log_sum), y);
    });
  }
}

template <class T>
void LogSoftmaxBackward(int64_t rows, int64_t n, const T* y, const T* dy, T* dx) {
  const Tag<T> d;
  for (int64_t r = 0; r < rows; ++r, y += n, dy += n, dx += n) {
    const T sum = LaneSum<T>(n, [=](auto at) HWY_ATTR { return at.Load(dy); });
    const auto all_sum = hn::Set(d, sum);
    EachVector<T>(n, [=](auto at) HWY_ATTR {
      at.Store(hn::Sub(at.Load(dy), hn::Mul(Exp(d, at.Load(y)), all_sum)), dx);
    });
  }
}

template <class T>
void LogSumExp(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    const int64_t live = WithoutMaskedEnd(n, x);
    const T largest = RowMax(live, x);
    // As a shift an infinity would make inf - inf; without one, exp overflows only where it should.
    if (largest == infinity || largest == -infinity) {
      const auto exp = [=](auto at) HWY_ATTR { return Exp(Tag<T>(), at.Load(x)); };
      y[r] = LogOfOne(LaneSum<T>(n, exp));
    } else {
      y[r] = largest + LogOfOne(SumExp(live, x, largest));
    }
  }
}

void SoftmaxF32(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                int64_t y_stride) {
  Softmax(rows, n, x, x_stride, y, y_stride);
}
void SoftmaxF64(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                int64_t y_stride) {
  Softmax(rows, n, x, x_stride, y, y_stride);
}
void SoftmaxBackwardF32(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  SoftmaxBackward(rows, n, y, dy, dx);
}
void SoftmaxBackwardF64(int64_t rows, int64_t n, const double* y, const double* dy, double* dx) {
  SoftmaxBackward(rows, n, y, dy, dx);
}
void LogSoftmaxF32(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                   int64_t y_stride) {
  LogSoftmax(rows, n, x, x_stride, y, y_stride);
}
void LogSoftmaxF64(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                   int64_t y_stride) {
  LogSoftmax(rows, n, x, x_stride, y, y_stride);
}
void LogSoftmaxBackwardF32(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  LogSoftmaxBackward(rows, n, y, dy, dx);
}
void LogSoftmaxBackwardF64(int64_t rows, int64_t n, const double* y, const double* dy, double* dx) {
  LogSoftmaxBackward(rows, n, y, dy, dx);
}
void LogSumExpF32(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y) {
  LogSumExp(rows, n, x, x_stride, y);
}
void LogSumExpF64(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y) {
  LogSumExp(rows, n, x, x_stride, y);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

// Rows worth a thread: about 16384 elements.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n)); }

template <class T, class Function>
void strided_rows(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y, int64_t y_stride,
                  Function f) {
  parallel_for(rows, grain(n), [=](int64_t r, int64_t end) {
    f(end - r, n, x + r * x_stride, x_stride, y + r * y_stride, y_stride);
  });
}

template <class T, class Function>
void gradient_rows(int64_t rows, int64_t n, const T* y, const T* dy, T* dx, Function f) {
  parallel_for(rows, grain(n),
               [=](int64_t r, int64_t end) { f(end - r, n, y + r * n, dy + r * n, dx + r * n); });
}

template <class T, class Function>
void reduced_rows(int64_t rows, int64_t n, const T* x, int64_t x_stride, T* y, Function f) {
  parallel_for(rows, grain(n),
               [=](int64_t r, int64_t end) { f(end - r, n, x + r * x_stride, x_stride, y + r); });
}

HWY_EXPORT(SoftmaxF32);
HWY_EXPORT(SoftmaxF64);
HWY_EXPORT(SoftmaxBackwardF32);
HWY_EXPORT(SoftmaxBackwardF64);
HWY_EXPORT(LogSoftmaxF32);
HWY_EXPORT(LogSoftmaxF64);
HWY_EXPORT(LogSoftmaxBackwardF32);
HWY_EXPORT(LogSoftmaxBackwardF64);
HWY_EXPORT(LogSumExpF32);
HWY_EXPORT(LogSumExpF64);

}  // namespace

void softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                  int64_t y_stride) {
  strided_rows(rows, n, x, x_stride, y, y_stride, HWY_DYNAMIC_DISPATCH(SoftmaxF32));
}

void softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                  int64_t y_stride) {
  strided_rows(rows, n, x, x_stride, y, y_stride, HWY_DYNAMIC_DISPATCH(SoftmaxF64));
}

void softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy, float* dx) {
  gradient_rows(rows, n, y, dy, dx, HWY_DYNAMIC_DISPATCH(SoftmaxBackwardF32));
}

void softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy, double* dx) {
  gradient_rows(rows, n, y, dy, dx, HWY_DYNAMIC_DISPATCH(SoftmaxBackwardF64));
}

void log_softmax_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y,
                      int64_t y_stride) {
  strided_rows(rows, n, x, x_stride, y, y_stride, HWY_DYNAMIC_DISPATCH(LogSoftmaxF32));
}

void log_softmax_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y,
                      int64_t y_stride) {
  strided_rows(rows, n, x, x_stride, y, y_stride, HWY_DYNAMIC_DISPATCH(LogSoftmaxF64));
}

void log_softmax_backward_rows(int64_t rows, int64_t n, const float* y, const float* dy,
                               float* dx) {
  gradient_rows(rows, n, y, dy, dx, HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardF32));
}

void log_softmax_backward_rows(int64_t rows, int64_t n, const double* y, const double* dy,
                               double* dx) {
  gradient_rows(rows, n, y, dy, dx, HWY_DYNAMIC_DISPATCH(LogSoftmaxBackwardF64));
}

void logsumexp_rows(int64_t rows, int64_t n, const float* x, int64_t x_stride, float* y) {
  reduced_rows(rows, n, x, x_stride, y, HWY_DYNAMIC_DISPATCH(LogSumExpF32));
}

void logsumexp_rows(int64_t rows, int64_t n, const double* x, int64_t x_stride, double* y) {
  reduced_rows(rows, n, x, x_stride, y, HWY_DYNAMIC_DISPATCH(LogSumExpF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
