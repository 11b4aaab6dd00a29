// Matrix multiplication: C = A B, or C += A B, for one product or a batch of them.
//
// Legend: A is (M, K), B is (K, N), C is (M, N). A and B are views with any strides, so that a
// transpose costs nothing to express; C is row-major with leading dimension ldc >= N and must
// not overlap A or B.
//
// Same bits: C[i, j] is one chain of fused multiply-adds over k = 0, 1, ..., K-1, which starts
// from +0 (or from C[i, j] when accumulating). Not the shapes, nor the strides, nor the path
// that is taken, nor the number of threads can change a bit of it.
// On a machine with fma instructions the plain twin therefore equals the fast kernel exactly.
#pragma once

#include <cstdint>

namespace lookback::kernels {

// Element (i, j) is data[i * row_stride + j * col_stride]. Strides count elements; any sign, or 0.
template <class T>
struct Matrix {
  const T* data;
  int64_t row_stride;
  int64_t col_stride;
};

// C[M, N] = A[M, K] B[K, N]; adds to what C holds when `accumulate`. K = 0 is a sum of nothing.
void gemm(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C, int64_t ldc,
          bool accumulate = false);
void gemm(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
          int64_t ldc, bool accumulate = false);

// C_i = A_i B_i for i in [0, batch), where A_i starts at A.data + a_offset[i], B_i at
// B.data + b_offset[i], and C_i at C + i * c_stride. The C_i must not overlap.
void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                  const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset, float* C,
                  int64_t ldc, int64_t c_stride);
void gemm_batched(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                  const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset, double* C,
                  int64_t ldc, int64_t c_stride);

// The plain twins.
void gemm_reference(int64_t M, int64_t N, int64_t K, Matrix<float> A, Matrix<float> B, float* C,
                    int64_t ldc, bool accumulate = false);
void gemm_reference(int64_t M, int64_t N, int64_t K, Matrix<double> A, Matrix<double> B, double* C,
                    int64_t ldc, bool accumulate = false);
void gemm_batched_reference(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<float> A,
                            const int64_t* a_offset, Matrix<float> B, const int64_t* b_offset,
                            float* C, int64_t ldc, int64_t c_stride);
void gemm_batched_reference(int64_t batch, int64_t M, int64_t N, int64_t K, Matrix<double> A,
                            const int64_t* a_offset, Matrix<double> B, const int64_t* b_offset,
                            double* C, int64_t ldc, int64_t c_stride);

}  // namespace lookback::kernels
