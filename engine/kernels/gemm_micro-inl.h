// The micro-kernel: one small tile of C, held in registers while k runs. Knows no cache.
//
//   for k in K                        c tile += column k of A times row k of B
//     for v in vectors of the tile      b[v] = B[k, v]
//     for r in rows of the tile         for v: acc[r][v] = fma(A[r, k], b[v], acc[r][v])
//
// A row of C lies along vector lanes, so that each lane is one sum over k, in the order of k.
// With 32 registers a tile of 12 x 2 vectors leaves 24 sums in flight: enough to hide the latency
// of fma (4 cycles, two a cycle), and each row of B that is loaded serves 12 rows of A
// (Goto and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication", section 6).
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_GEMM_MICRO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_GEMM_MICRO_INL_H_
#undef LOOKBACK_GEMM_MICRO_INL_H_
#else
#define LOOKBACK_GEMM_MICRO_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <utility>

#include "engine/kernels/gemm.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr size_t kTileRows = 12;  // 32 registers
#else
inline constexpr size_t kTileRows = 6;  // 16 registers
#endif
inline constexpr int64_t kSums = 2 * kTileRows;  // vectors of running sums in a tile

// How the micro-kernel walks through its operands, packed or not: the same for a strip of tiles.
struct Walk {
  int64_t K;
  int64_t a_row, a_k;  // A[r, k] is a[r * a_row + k * a_k]
  int64_t b_k;         // B[k, j] is b[k * b_k + j]
  int64_t ldc;         // C[r, j] is c[r * ldc + j]
  bool accumulate;
};

// The first `count` lanes from p, zeros after them; touches nothing beyond p[count - 1].
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, const T* HWY_RESTRICT p, size_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(hn::Vec<D> v, D d, T* HWY_RESTRICT p, size_t count) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, count), d, p);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < count; ++i) p[i] = lanes[i];
#endif
}

// The same pointer, but the compiler forgets how it came about. Else it computes the addresses of
// all rows before the loop, runs out of registers, and waits for spilled ones inside: measured, 90
// cycles for each tile.
template <class T>
HWY_INLINE T* fresh(T* pointer) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(pointer));
#endif
  return pointer;
}

// kVectors vectors from p; when kPartial, the last of them has only `last` valid lanes.
template <bool kPartial, size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void load_row(D d, const T* p, size_t last, hn::Vec<D> (&row)[kVectors]) {
  HWY_UNROLL(8)
  for (size_t v = 0; v < kVectors; ++v) {
    const T* lanes = p + v * hn::Lanes(d);
    row[v] = kPartial && v == kVectors - 1 ? load_first(d, lanes, last) : hn::LoadU(d, lanes);
  }
}

template <bool kPartial, size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void store_row(D d, const hn::Vec<D> (&row)[kVectors], size_t last, T* p) {
  HWY_UNROLL(8)
  for (size_t v = 0; v < kVectors; ++v) {
    T* lanes = p + v * hn::Lanes(d);
    if (kPartial && v == kVectors - 1) {
      store_first(row[v], d, lanes, last);
    } else {
      hn::StoreU(row[v], d, lanes);
    }
  }
}

// Asks for the tile to the right, which is next.
template <size_t kRows, size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void prefetch_next(D d, const T* c, int64_t ldc) {
  HWY_UNROLL(12)
  for (size_t r = 0; r < kRows; ++r, c += ldc) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors; ++v) hwy::Prefetch(c + (kVectors + v) * hn::Lanes(d));
  }
}

// One tile of kRows rows by kVectors vectors.
template <class T, size_t kRows, size_t kVectors, bool kPartial>
void micro_kernel(const Walk& walk, const T* a, const T* b, T* c, size_t last) {
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> acc[kRows][kVectors];
  if (walk.accumulate) {
    const T* c_in = c;
    HWY_UNROLL(12)
    for (size_t r = 0; r < kRows; ++r, c_in += walk.ldc) load_row<kPartial>(d, c_in, last, acc[r]);
  } else {
    HWY_UNROLL(12)
    for (size_t r = 0; r < kRows; ++r) {
      HWY_UNROLL(8)
      for (size_t v = 0; v < kVectors; ++v) acc[r][v] = hn::Zero(d);
    }
  }
  if (walk.K >= 128) prefetch_next<kRows, kVectors>(d, c, walk.ldc);

  // Rows 0 to 5 from `a`, 6 to 11 from `a6`: six offsets serve both.
  const T* a6 = fresh(a + 6 * walk.a_row);
  for (int64_t k = 0; k < walk.K; ++k) {
    hn::Vec<decltype(d)> row[kVectors];
    load_row<kPartial>(d, b, last, row);
    HWY_UNROLL(12)
    for (size_t r = 0; r < kRows; ++r) {
      const T* a_r = (r < 6 ? a : a6) + static_cast<int64_t>(r % 6) * walk.a_row;
      const auto a_rk = hn::Set(d, *a_r);
      HWY_UNROLL(8)
      for (size_t v = 0; v < kVectors; ++v) acc[r][v] = hn::MulAdd(a_rk, row[v], acc[r][v]);
    }
    a += walk.a_k;
    a6 += walk.a_k;
    b += walk.b_k;
  }

  T* c_out = fresh(c);
  HWY_UNROLL(12)
  for (size_t r = 0; r < kRows; ++r, c_out += walk.ldc) {
    store_row<kPartial>(d, acc[r], last, c_out);
  }
}

template <class T>
using MicroKernel = void (*)(const Walk&, const T* a, const T* b, T* c, size_t last);

// The micro-kernels of 1, 2, ..., kTileRows rows, all equally wide.
template <class T, size_t kVectors, bool kPartial, size_t... kRow>
constexpr std::array<MicroKernel<T>, sizeof...(kRow)> by_rows(std::index_sequence<kRow...>) {
  return {&micro_kernel<T, kRow + 1, kVectors, kPartial>...};
}

// Few rows get wider tiles, so that enough sums are in flight: up to 8 vectors.
template <class T>
int64_t widest_tile(int64_t rows) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  if (rows * 8 <= kSums) return 8 * lanes;
  if (rows * 4 <= kSums) return 4 * lanes;
  return 2 * lanes;
}

// A strip of at most kTileRows rows by any number of columns, tile after tile to the right.
template <class T>
void multiply_strip(const Walk& walk, int64_t rows, int64_t columns, const T* a, const T* b, T* c) {
  static constexpr auto kWide8 = by_rows<T, 8, false>(std::make_index_sequence<kSums / 8>());
  static constexpr auto kWide4 = by_rows<T, 4, false>(std::make_index_sequence<kSums / 4>());
  static constexpr auto kWide2 = by_rows<T, 2, false>(std::make_index_sequence<kTileRows>());
  static constexpr auto kWide1 = by_rows<T, 1, false>(std::make_index_sequence<kTileRows>());
  static constexpr auto kPart2 = by_rows<T, 2, true>(std::make_index_sequence<kTileRows>());
  static constexpr auto kPart1 = by_rows<T, 1, true>(std::make_index_sequence<kTileRows>());

  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const auto kernel = static_cast<size_t>(rows - 1);
  const auto run = [&](MicroKernel<T> micro, int64_t width, int64_t last) {
    micro(walk, a, b, c, static_cast<size_t>(last));
    b += width;
    c += width;
    columns -= width;
  };
  if (rows * 8 <= kSums) {
    while (columns >= 8 * lanes) run(kWide8[kernel], 8 * lanes, lanes);
  }
  if (rows * 4 <= kSums) {
    while (columns >= 4 * lanes) run(kWide4[kernel], 4 * lanes, lanes);
  }
  while (columns >= 2 * lanes) run(kWide2[kernel], 2 * lanes, lanes);
  if (columns == lanes) {
    run(kWide1[kernel], lanes, lanes);
  } else if (columns > lanes) {
    run(kPart2[kernel], columns, columns - lanes);
  } else if (columns > 0) {
    run(kPart1[kernel], columns, columns);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_GEMM_MICRO_INL_H_
