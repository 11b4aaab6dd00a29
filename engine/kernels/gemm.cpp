// The fast matrix multiplication; for now it only forwards to its plain twin.
#include "engine/kernels/gemm.h"

namespace lookback::kernels {

void gemm(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C, int64_t ldc,
          bool accumulate) {
  gemm_reference(M, N, K, A, B, C, ldc, accumulate);
}

void gemm(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
          int64_t ldc, bool accumulate) {
  gemm_reference(M, N, K, A, B, C, ldc, accumulate);
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                  const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset, float* C,
                  int64_t ldc, int64_t c_stride) {
  gemm_batched_reference(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                  const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset, double* C,
                  int64_t ldc, int64_t c_stride) {
  gemm_batched_reference(batch, M, N, K, A, a_offset, B, b_offset, C, ldc, c_stride);
}

}  // namespace lookback::kernels
