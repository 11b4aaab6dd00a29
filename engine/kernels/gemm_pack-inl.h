// Packing: copies a strip of A or of B so that the micro-kernel reads it front to back.
//
//   for k in K
//     for i in width        panel[k * width + i] = source[i * stride + k * k_stride]
//
// A panel is read many times from a near cache; neighbours in time become neighbours in memory,
// and rows that lie a power of two apart no longer fight for one cache set.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_GEMM_PACK_INL_H_
#undef LOOKBACK_GEMM_PACK_INL_H_
#else
#define LOOKBACK_GEMM_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// A vector whose 128-bit block number p comes from source + p * block_stride.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* source, int64_t block_stride) {
  if constexpr (hn::MaxLanes(d) * sizeof(T) <= 16) {
    return hn::LoadU(d, source);
  } else {
    const hn::Half<D> half;
    constexpr int64_t kBlocks = hn::MaxLanes(half) * sizeof(T) / 16;
    return hn::Combine(d, load_blocks(half, source + kBlocks * block_stride, block_stride),
                       load_blocks(half, source, block_stride));
  }
}

// Transposes Lanes(d) rows of one 128-bit block each: lane i of columns[k] is
// source[i * stride + k]. Row p * kBlock + q goes to block p of vector q, so that transposing
// within the blocks finishes the work: 2 x 2 for double, 4 x 4 for float.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void load_transposed(D d, const T* source, int64_t stride,
                                hn::Vec<D> (&columns)[16 / sizeof(T)]) {
  constexpr int64_t kBlock = 16 / sizeof(T);
  const int64_t block_stride = kBlock * stride;
  const auto row0 = load_blocks(d, source, block_stride);
  const auto row1 = load_blocks(d, source + stride, block_stride);
  if constexpr (kBlock == 2) {
    columns[0] = hn::InterleaveLower(d, row0, row1);
    columns[1] = hn::InterleaveUpper(d, row0, row1);
  } else {
    const auto row2 = load_blocks(d, source + 2 * stride, block_stride);
    const auto row3 = load_blocks(d, source + 3 * stride, block_stride);
    const auto lower02 = hn::InterleaveLower(d, row0, row2);
    const auto lower13 = hn::InterleaveLower(d, row1, row3);
    const auto upper02 = hn::InterleaveUpper(d, row0, row2);
    const auto upper13 = hn::InterleaveUpper(d, row1, row3);
    columns[0] = hn::InterleaveLower(d, lower02, lower13);
    columns[1] = hn::InterleaveUpper(d, lower02, lower13);
    columns[2] = hn::InterleaveLower(d, upper02, upper13);
    columns[3] = hn::InterleaveUpper(d, upper02, upper13);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

// Plain copy of columns [i_begin, i_end) of the panel; the fallback for strides of neither kind.
template <class T>
void pack_plain(int64_t K, int64_t i_begin, int64_t i_end, const T* source, int64_t stride,
                int64_t k_stride, int64_t width, T* panel) {
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t i = i_begin; i < i_end; ++i) {
      panel[k * width + i] = source[i * stride + k * k_stride];
    }
  }
}

// Rows of the panel are contiguous in the source: a copy, from column `begin` on, of a multiple of
// Lanes(d) columns. Returns the first column that is left.
template <class D, class T = hn::TFromD<D>>
int64_t pack_rows(D d, int64_t K, int64_t begin, int64_t count, const T* source, int64_t k_stride,
                  int64_t width, T* panel) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t end = begin + (count - begin) / lanes * lanes;
  for (int64_t k = 0; k < K; ++k) {
    for (int64_t i = begin; i < end; i += lanes) {
      hn::StoreU(hn::LoadU(d, source + k * k_stride + i), d, panel + k * width + i);
    }
  }
  return end;
}

#if HWY_TARGET != HWY_SCALAR

// Columns of the panel are contiguous in the source: a transpose, otherwise like pack_rows.
template <class D, class T = hn::TFromD<D>>
int64_t pack_columns(D d, int64_t K, int64_t begin, int64_t count, const T* source, int64_t stride,
                     int64_t width, T* panel) {
  constexpr int64_t kBlock = 16 / sizeof(T);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = K - K % kBlock;
  int64_t i = begin;
  for (; i + lanes <= count; i += lanes) {
    for (int64_t k = 0; k < whole; k += kBlock) {
      hn::Vec<D> columns[kBlock];
      load_transposed(d, source + i * stride + k, stride, columns);
      HWY_UNROLL(4)
      for (int64_t q = 0; q < kBlock; ++q) {
        hn::StoreU(columns[q], d, panel + (k + q) * width + i);
      }
    }
    pack_plain(K - whole, i, i + lanes, source + whole, stride, 1, width, panel + whole * width);
  }
  return i;
}

#endif  // HWY_TARGET != HWY_SCALAR

// The whole panel: K rows, `count` <= width columns; columns past count stay unwritten.
template <class T>
void pack_panel(int64_t K, int64_t count, const T* source, int64_t stride, int64_t k_stride,
                int64_t width, T* panel) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 16 / sizeof(T)> block;
  int64_t done = 0;
  if (stride == 1) {
    done = pack_rows(d, K, done, count, source, k_stride, width, panel);
    done = pack_rows(block, K, done, count, source, k_stride, width, panel);
  }
#if HWY_TARGET != HWY_SCALAR
  if (stride != 1 && k_stride == 1) {
    done = pack_columns(d, K, done, count, source, stride, width, panel);
    done = pack_columns(block, K, done, count, source, stride, width, panel);
  }
#endif
  pack_plain(K, done, count, source, stride, k_stride, width, panel);
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_GEMM_PACK_INL_H_
