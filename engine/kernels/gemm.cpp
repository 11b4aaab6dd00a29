// The fast matrix multiplication: picks the SIMD target, cuts the work for the threads.
// The arithmetic is in gemm_loops-inl.h and below; the plain twin is gemm_reference.cpp.
//
//   cut C into bands of rows or of columns, one for each thread
//     in each band: the five loops of gemm_loops-inl.h
//       packing: gemm_pack-inl.h; the innermost loop, in registers: gemm_micro-inl.h
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/gemm.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each target.
#include <hwy/highway.h>

#include "engine/kernels/gemm_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {

void multiply_f32(const GemmProblem<float>& problem) { multiply(problem); }
void multiply_f64(const GemmProblem<double>& problem) { multiply(problem); }

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "engine/kernels/gemm.h"
#include "engine/kernels/threads.h"

namespace lookback::kernels {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

template <class T>
GemmWorkspace<T> gemm_workspace() {
  constexpr int64_t kA = kMaxTileRows * kBlockDepth<T>;
  constexpr int64_t kB = kBlockColumns * kBlockDepth<T>;
  static thread_local const auto memory = hwy::AllocateAligned<T>(static_cast<size_t>(kA + kB));
  return {memory.get(), memory.get() + kA};
}

template GemmWorkspace<float> gemm_workspace();
template GemmWorkspace<double> gemm_workspace();

namespace {

// Fewer multiply-adds than this (some 5 us) are not worth waking another thread.
constexpr int64_t kMinimumWork = int64_t{1} << 18;

void multiply_here(const GemmProblem<float>& problem) {
  HWY_DYNAMIC_DISPATCH(multiply_f32)(problem);
}
void multiply_here(const GemmProblem<double>& problem) {
  HWY_DYNAMIC_DISPATCH(multiply_f64)(problem);
}

template <class T>
const T* at(const Matrix<T>& matrix, int64_t i, int64_t j) {
  return matrix.data + i * matrix.row_stride + j * matrix.col_stride;
}

template <class T>
Matrix<T> transposed(const Matrix<T>& matrix) {
  return {matrix.data, matrix.col_stride, matrix.row_stride};
}

// Rows [begin, end) of the product.
template <class T>
GemmProblem<T> row_band(GemmProblem<T> p, int64_t begin, int64_t end) {
  p.A.data = at(p.A, begin, 0);
  p.C += begin * p.ldc;
  p.M = end - begin;
  return p;
}

// Columns [begin, end) of the product.
template <class T>
GemmProblem<T> column_band(GemmProblem<T> p, int64_t begin, int64_t end) {
  p.B.data = at(p.B, 0, begin);
  p.C += begin;
  p.N = end - begin;
  return p;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// One side of C, as threads may cut it: at multiples of `step`, so that no tile is torn apart.
struct Side {
  int64_t length;
  int64_t step;

  int64_t longest_piece() const { return ceil_div(ceil_div(length, step), num_threads()) * step; }
};

// Threads cut the longer side of C, so that the operand which all of them read is the smaller one;
// or the other side where that shares the work more evenly.
template <class T>
void multiply_in_parallel(const GemmProblem<T>& p) {
  const Side rows{p.M, kMaxTileRows};
  const Side columns{p.N, 128 / sizeof(T)};
  const double rows_share = static_cast<double>(rows.longest_piece() * p.N);
  const double columns_share = static_cast<double>(columns.longest_piece() * p.M);
  const bool by_rows =
      p.M > p.N ? rows_share <= 1.05 * columns_share : 1.05 * rows_share < columns_share;

  const Side& side = by_rows ? rows : columns;
  const int64_t work = side.step * (by_rows ? p.N : p.M) * p.K;
  const int64_t count = ceil_div(side.length, side.step);
  parallel_for(count, ceil_div(kMinimumWork, work), [&](int64_t from, int64_t to) {
    const int64_t begin = from * side.step;
    const int64_t end = std::min(to * side.step, side.length);
    multiply_here(by_rows ? row_band(p, begin, end) : column_band(p, begin, end));
  });
}

// K = 0: each element is the sum of nothing.
template <class T>
void write_zeros(const GemmProblem<T>& p) {
  for (int64_t i = 0; i < p.M; ++i) std::fill_n(p.C + i * p.ldc, p.N, T{0});
}

template <class T>
void fast_gemm(const GemmProblem<T>& p) {
  if (p.M <= 0 || p.N <= 0) return;
  if (p.K <= 0) {
    if (!p.accumulate) write_zeros(p);
    return;
  }
  if (p.N == 1 && p.ldc == 1) {
    // Lanes run along a row of C; a lone column becomes one: c^T = b^T A^T.
    return multiply_in_parallel<T>(
        {1, p.M, p.K, transposed(p.B), transposed(p.A), p.C, p.M, p.accumulate});
  }
  multiply_in_parallel(p);
}

struct Batch {
  int64_t size;
  const int64_t* a_offset;
  const int64_t* b_offset;
  int64_t c_stride;
};

// True when the products share one B and their rows follow each other in A and in C.
template <class T>
bool is_one_tall_product(const Batch& batch, const GemmProblem<T>& p) {
  if (batch.c_stride != p.M * p.ldc) return false;
  for (int64_t i = 1; i < batch.size; ++i) {
    if (batch.b_offset[i] != batch.b_offset[0]) return false;
    if (batch.a_offset[i] != batch.a_offset[0] + i * p.M * p.A.row_stride) return false;
  }
  return true;
}

template <class T>
void fast_gemm_batched(const Batch& batch, const GemmProblem<T>& p) {
  if (batch.size <= 0 || p.M <= 0 || p.N <= 0) return;
  const auto product = [&](int64_t i) {
    GemmProblem<T> one = p;
    one.A.data += batch.a_offset[i];
    one.B.data += batch.b_offset[i];
    one.C += i * batch.c_stride;
    return one;
  };
  if (is_one_tall_product(batch, p)) {
    GemmProblem<T> tall = product(0);
    tall.M *= batch.size;
    return fast_gemm(tall);
  }
  if (batch.size < num_threads() || p.K <= 0) {
    for (int64_t i = 0; i < batch.size; ++i) fast_gemm(product(i));
    return;
  }
  const int64_t work = p.M * p.N * p.K;
  parallel_for(batch.size, ceil_div(kMinimumWork, work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) multiply_here(product(i));
  });
}

}  // namespace

void gemm(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C, int64_t ldc,
          bool accumulate) {
  fast_gemm<float>({M, N, K, A, B, C, ldc, accumulate});
}

void gemm(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
          int64_t ldc, bool accumulate) {
  fast_gemm<double>({M, N, K, A, B, C, ldc, accumulate});
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                  const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset, float* C,
                  int64_t ldc, int64_t c_stride) {
  fast_gemm_batched<float>({batch, a_offset, b_offset, c_stride}, {M, N, K, A, B, C, ldc, false});
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                  const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset, double* C,
                  int64_t ldc, int64_t c_stride) {
  fast_gemm_batched<double>({batch, a_offset, b_offset, c_stride}, {M, N, K, A, B, C, ldc, false});
}

}  // namespace lookback::kernels

#endif  // HWY_ONCE
