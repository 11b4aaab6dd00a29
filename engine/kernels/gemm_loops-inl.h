// The five loops of matrix multiplication, on one thread:
//
//   for jc in N step kBlockColumns        a block of B is kBlockDepth x kBlockColumns: packed
//     for pc in K step kBlockDepth          once, it then serves every row of A
//       for ic in M step kTileRows            a strip of A stays in the L1 cache, ...
//         for jr in the block's panels          ... while the panels of B stream by
//           for k in the block's depth            the micro-kernel: a tile of C, in registers
//
// This is the order of Van Zee and van de Geijn (2015, "BLIS", figure 1) with the roles of A and B
// exchanged, since our C is row-major. Cutting K into blocks stores each sum to C and takes it up
// again from there, which changes no bit.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_GEMM_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_GEMM_LOOPS_INL_H_
#undef LOOKBACK_GEMM_LOOPS_INL_H_
#else
#define LOOKBACK_GEMM_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "engine/kernels/gemm_micro-inl.h"
#include "engine/kernels/gemm_pack-inl.h"
#include "engine/kernels/gemm_problem.h"
#include "engine/kernels/gemm_row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Packing B pays when it makes rows contiguous that were not, or when B is too large for the near
// caches and is read many times. Otherwise the micro-kernel reads it where it lies.
template <class T>
bool should_pack_b(const GemmProblem<T>& p) {
  constexpr int64_t kLarge = (768 << 10) / sizeof(T);
  return p.B.col_stride != 1 || (p.K * p.N > kLarge && p.M >= 4 * kMaxTileRows);
}

// The micro-kernel reads single elements of A, so that almost any strides will do, as long as a
// strip survives in the L1 cache while B streams by. It does not when B is very large, or when rows
// lie a multiple of 4 KiB apart (all in the same cache sets), or when each k is another line.
template <class T>
bool should_pack_a(const GemmProblem<T>& p) {
  constexpr int64_t kLarge = (768 << 10) / sizeof(T);
  constexpr int64_t kVeryLarge = 4 * kLarge;
  constexpr int64_t kSameSets = 4096 / sizeof(T);
  const bool scattered = p.A.col_stride != 1 || p.A.row_stride % kSameSets == 0;
  return p.K * p.N > (scattered ? kLarge : kVeryLarge);
}

// A block of B as a row of panels: element (k, j) of panel number q is
// data[q * panel_stride + k * k_stride + j].
template <class T>
struct Panels {
  const T* data;
  int64_t k_stride;
  int64_t width;
  int64_t panel_stride;
};

template <class T>
Panels<T> pack_b(const GemmProblem<T>& block, int64_t width, T* packed) {
  const Matrix<T>& B = block.B;
  for (int64_t j = 0; j < block.N; j += width) {
    pack_panel(block.K, std::min(width, block.N - j), B.data + j * B.col_stride, B.col_stride,
               B.row_stride, width, packed + j * block.K);
  }
  return {packed, width, width, width * block.K};
}

// The loops over ic and jr: one block of columns and of depth. packed_a is null to read A in place.
template <class T>
void multiply_block(const GemmProblem<T>& block, const Panels<T>& b, T* packed_a) {
  constexpr auto kRows = static_cast<int64_t>(kTileRows);
  const Matrix<T>& A = block.A;
  for (int64_t i = 0; i < block.M; i += kRows) {
    const int64_t rows = std::min(kRows, block.M - i);
    Matrix<T> a{A.data + i * A.row_stride, A.row_stride, A.col_stride};
    if (packed_a != nullptr) {
      pack_panel(block.K, rows, a.data, a.row_stride, a.col_stride, rows, packed_a);
      a = {packed_a, 1, rows};
    }
    const Walk walk{block.K, a.row_stride, a.col_stride, b.k_stride, block.ldc, block.accumulate};
    const T* panel = b.data;
    for (int64_t j = 0; j < block.N; j += b.width, panel += b.panel_stride) {
      multiply_strip(walk, rows, std::min(b.width, block.N - j), a.data, panel,
                     block.C + i * block.ldc + j);
    }
  }
}

// The loops over jc and pc. REQUIRES: K > 0.
template <class T>
void multiply(const GemmProblem<T>& p) {
  const bool packs_a = should_pack_a(p);
  const bool packs_b = should_pack_b(p);
  const GemmWorkspace<T> workspace = packs_a || packs_b ? gemm_workspace<T>() : GemmWorkspace<T>{};
  const int64_t done = is_row_times_transposed(p) ? multiply_row(p) : 0;
  for (int64_t jc = done; jc < p.N; jc += kBlockColumns) {
    for (int64_t pc = 0; pc < p.K; pc += kBlockDepth<T>) {
      GemmProblem<T> block = p;
      block.N = std::min(kBlockColumns, p.N - jc);
      block.K = std::min(kBlockDepth<T>, p.K - pc);
      block.A.data += pc * p.A.col_stride;
      block.B.data += pc * p.B.row_stride + jc * p.B.col_stride;
      block.C += jc;
      block.accumulate = p.accumulate || pc > 0;
      const Panels<T> panels = packs_b ? pack_b(block, widest_tile<T>(p.M), workspace.b)
                                       : Panels<T>{block.B.data, p.B.row_stride, block.N, 0};
      multiply_block(block, panels, packs_a ? workspace.a : nullptr);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_GEMM_LOOPS_INL_H_
