// One row times a transposed matrix: y = x W^T with W (N, K) row-major, the product of decoding.
//
//   for j in N step Lanes                 rows j, j + 1, ... of W, one for each lane
//     for k in K step block                 a block of each row, transposed in registers
//       for q in block                        acc = fma(x[k + q], column q, acc)
//
// W is read once, front to back along its rows, and nothing of it is packed: a panel would be
// used for a single row. Each lane is one sum in the order of k, as everywhere.
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_GEMM_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_GEMM_ROW_INL_H_
#undef LOOKBACK_GEMM_ROW_INL_H_
#else
#define LOOKBACK_GEMM_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "engine/kernels/gemm_pack-inl.h"
#include "engine/kernels/gemm_problem.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
bool is_row_times_transposed(const GemmProblem<T>& p) {
  return p.M == 1 && p.B.row_stride == 1 && p.B.col_stride != 1 && HWY_TARGET != HWY_SCALAR;
}

// Returns how many columns of C it has done: all but a remainder of less than a vector.
template <class T>
int64_t multiply_row([[maybe_unused]] const GemmProblem<T>& p) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr int64_t kBlock = 16 / sizeof(T);
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t stride = p.B.col_stride;
  const int64_t a_k = p.A.col_stride;
  for (; j + lanes <= p.N; j += lanes) {
    const T* w = p.B.data + j * stride;
    V acc = p.accumulate ? hn::LoadU(d, p.C + j) : hn::Zero(d);
    int64_t k = 0;
    for (; k + kBlock <= p.K; k += kBlock) {
      V columns[kBlock];
      load_transposed(d, w + k, stride, columns);
      HWY_UNROLL(4)
      for (int64_t q = 0; q < kBlock; ++q) {
        acc = hn::MulAdd(hn::Set(d, p.A.data[(k + q) * a_k]), columns[q], acc);
      }
    }
    for (; k < p.K; ++k) {
      HWY_ALIGN T column[hn::MaxLanes(d)];
      for (int64_t i = 0; i < lanes; ++i) column[i] = w[i * stride + k];
      acc = hn::MulAdd(hn::Set(d, p.A.data[k * a_k]), hn::Load(d, column), acc);
    }
    hn::StoreU(acc, d, p.C + j);
  }
#endif
  return j;
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_GEMM_ROW_INL_H_
