// The plain twin of gemm.cpp: the triple loop, as on paper.
//
//   for i in M
//     for j in N
//       C[i, j] = A[i, 0] B[0, j] + A[i, 1] B[1, j] + ... , in this order, each step one fma
#include <cmath>

#include "engine/kernels/gemm.h"

namespace lookback::kernels {
namespace {

template <class T>
void plain_gemm(int64_t M, int64_t N, int64_t K, Matrix<T> A, Matrix<T> B, T* C, int64_t ldc,
                bool accumulate) {
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      T sum = accumulate ? C[i * ldc + j] : T{0};
      for (int64_t k = 0; k < K; ++k) {
        const T a = A.data[i * A.row_stride + k * A.col_stride];
        const T b = B.data[k * B.row_stride + j * B.col_stride];
        sum = std::fma(a, b, sum);
      }
      C[i * ldc + j] = sum;
    }
  }
}

template <class T>
void plain_gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<T> A,
                        const int64_t* a_offset, Matrix<T> B, const int64_t* b_offset, T* C,
                        int64_t ldc, int64_t c_stride) {
  for (int64_t i = 0; i < batch; ++i) {
    const Matrix<T> a{A.data + a_offset[i], A.row_stride, A.col_stride};
    const Matrix<T> b{B.data + b_offset[i], B.row_stride, B.col_stride};
    plain_gemm(M, N, K, a, b, C + i * c_stride, ldc, /*accumulate=*/false);
  }
}

}  // namespace

void gemm_reference(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C,
                    int64_t ldc, bool accumulate) {
  plain_gemm(M, N, K, A, B, C, ldc, accumulate);
}

void gemm_reference(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
                    int64_t ldc, bool accumulate) {
  plain_gemm(M, N, K, A, B, C, ldc, accumulate);
}

void gemm_batched_reference(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                            const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset,
                            float* C, int64_t ldc, int64_t c_stride) {
  plain_gemm_batched(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

void gemm_batched_reference(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                            const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset,
                            double* C, int64_t ldc, int64_t c_stride) {
  plain_gemm_batched(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

#ifdef LOOKBACK_REFERENCE_KERNELS

void gemm(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C, int64_t ldc,
          bool accumulate) {
  plain_gemm(M, N, K, A, B, C, ldc, accumulate);
}

void gemm(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
          int64_t ldc, bool accumulate) {
  plain_gemm(M, N, K, A, B, C, ldc, accumulate);
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                  const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset, float* C,
                  int64_t ldc, int64_t c_stride) {
  plain_gemm_batched(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                  const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset, double* C,
                  int64_t ldc, int64_t c_stride) {
  plain_gemm_batched(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace lookback::kernels
