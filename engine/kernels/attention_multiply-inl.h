// The small matrix products that attention is made of, on tiles that a near cache holds.
//
//   for strips of kStripRows rows of C, and of 2 vectors of its columns
//     for k in K                      the strip of C stays in registers
//       for v in 2 vectors              b[v] = B[k, v]
//       for r in rows                   c[r, v] = fma(A[r, k], b[v], c[r, v])
//
// A lies anywhere, also transposed; B and C are row-major, of whole vectors, C aligned. Each
// element of C is one chain of fused multiply-adds in the order of k.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_ATTENTION_MULTIPLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ATTENTION_MULTIPLY_INL_H_
#undef LOOKBACK_ATTENTION_MULTIPLY_INL_H_
#else
#define LOOKBACK_ATTENTION_MULTIPLY_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr int64_t kStripRows = 8;  // 32 registers: 16 of sums
#else
inline constexpr int64_t kStripRows = 4;  // 16 registers: 8 of sums
#endif

// C[M, N] = A[M, K] B[K, N], or C += A B. N counts vectors.
template <class T>
struct Product {
  int64_t M;
  int64_t N;
  int64_t K;
  const T* a;  // A[m, k] = a[m * a_row + k * a_col]
  int64_t a_row;
  int64_t a_col;
  const T* b;  // B[k, n] = b[k * b_row + n]
  int64_t b_row;
  T* c;  // C[m, n] = c[m * c_row + n]
  int64_t c_row;
  bool accumulate = false;
};

template <size_t kRows, size_t kVectors, class T>
HWY_INLINE void multiply_strip(const Product<T>& p, int64_t m, int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  const T* HWY_RESTRICT a = p.a + m * p.a_row;
  const T* HWY_RESTRICT b = p.b + n;
  T* HWY_RESTRICT c = p.c + m * p.c_row + n;
  const int64_t a_row = p.a_row;

  V sum[kRows][kVectors];
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    const T* c_row = c + static_cast<int64_t>(r) * p.c_row;
    HWY_UNROLL(2)
    for (size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = p.accumulate ? hn::Load(d, c_row + v * lanes) : hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < p.K; ++k) {
    V row[kVectors];
    HWY_UNROLL(2)
    for (size_t v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + v * lanes);
    HWY_UNROLL(8)
    for (size_t r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[static_cast<int64_t>(r) * a_row]);
      HWY_UNROLL(2)
      for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(x, row[v], sum[r][v]);
    }
    a += p.a_col;
    b += p.b_row;
  }
  HWY_UNROLL(8)
  for (size_t r = 0; r < kRows; ++r) {
    T* c_row = c + static_cast<int64_t>(r) * p.c_row;
    HWY_UNROLL(2)
    for (size_t v = 0; v < kVectors; ++v) hn::Store(sum[r][v], d, c_row + v * lanes);
  }
}

template <size_t kVectors, class T>
void multiply_columns(const Product<T>& p, int64_t n) {
  int64_t m = 0;
  for (; m + kStripRows <= p.M; m += kStripRows) multiply_strip<kStripRows, kVectors>(p, m, n);
  if (m + 4 <= p.M) {
    multiply_strip<4, kVectors>(p, m, n);
    m += 4;
  }
  if (m + 2 <= p.M) {
    multiply_strip<2, kVectors>(p, m, n);
    m += 2;
  }
  if (m < p.M) multiply_strip<1, kVectors>(p, m, n);
}

template <class T>
void multiply(const Product<T>& p) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  int64_t n = 0;
  for (; n + 2 <= p.N; n += 2) multiply_columns<2>(p, n * lanes);
  if (n < p.N) multiply_columns<1>(p, n * lanes);
}

// The weight of a key that a query may not attend, where it must be told apart from a weight that
// is merely 0: a weight is never negative.
template <class T>
inline constexpr T kHidden = static_cast<T>(-0.0);

// The same product, which leaves out the terms that are hidden in A or in B: other than 0 * x,
// nothing * x is nothing even if x is NaN. Slow, the same bits; for tiles that hold a hidden
// weight as well as a NaN or an infinity.
enum class HiddenIn { kA, kB };

template <class T>
void multiply_visible(const Product<T>& p, HiddenIn hidden_in) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto hidden_bits = hn::BitCast(du, hn::Set(d, kHidden<T>));
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t m = 0; m < p.M; ++m) {
    for (int64_t n = 0; n < p.N * lanes; n += lanes) {
      T* c = p.c + m * p.c_row + n;
      auto sum = p.accumulate ? hn::Load(d, c) : hn::Zero(d);
      for (int64_t k = 0; k < p.K; ++k) {
        const auto a = hn::Set(d, p.a[m * p.a_row + k * p.a_col]);
        const auto b = hn::LoadU(d, p.b + k * p.b_row + n);
        const auto weight = hidden_in == HiddenIn::kA ? a : b;
        const auto hidden = hn::RebindMask(d, hn::Eq(hn::BitCast(du, weight), hidden_bits));
        sum = hn::IfThenElse(hidden, sum, hn::MulAdd(a, b, sum));
      }
      hn::Store(sum, d, c);
    }
  }
}

// Whether a rows x width array, whose rows lie `stride` apart, holds a NaN or an infinity.
template <class T>
bool holds_nonfinite(const T* data, int64_t rows, int64_t width, int64_t stride) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto zeros = hn::Zero(d);  // x * 0 is NaN for what we look for
  T zero = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = data + r * stride;
    int64_t c = 0;
    for (; c + lanes <= width; c += lanes) {
      zeros = hn::MulAdd(hn::LoadU(d, x + c), hn::Zero(d), zeros);
    }
    for (; c < width; ++c) zero += x[c] * T{0};
  }
  return std::isnan(zero) || !hn::AllTrue(d, hn::Eq(zeros, hn::Zero(d)));
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ATTENTION_MULTIPLY_INL_H_
