// gemm against its plain twin, bit for bit. The claim is strong (every element is one chain of
// fused multiply-adds, whatever the path), so the comparison is `==` on the bits, over shapes that
// reach every path: tails of each length, few rows, packed and unpacked operands, several cache
// blocks, all four transposes, strides of every kind, and any number of threads.
#include "engine/kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/kernels/threads.h"
#include "tests/engine/kernels_gemm_support.h"

#ifndef LOOKBACK_REFERENCE_KERNELS
#include <hwy/highway.h>
#endif

namespace lookback::kernels {
namespace {

template <class T>
class GemmTest : public testing::Test {
 protected:
  ~GemmTest() override { set_num_threads(threads_); }

  struct Shape {
    int64_t M, N, K;
  };

  // Compares gemm with the twin. C is wider than N, and the gap must stay as it was.
  static void expect_equal_to_twin(Shape s, bool transpose_a, bool transpose_b, bool accumulate) {
    const std::vector<T> a = random_values<T>(s.M * s.K, 1);
    const std::vector<T> b = random_values<T>(s.K * s.N, 2);
    const int64_t ldc = s.N + 3;
    std::vector<T> want = random_values<T>(s.M * ldc, 3);
    std::vector<T> got = want;
    const Matrix<T> A = view(a, s.M, s.K, transpose_a);
    const Matrix<T> B = view(b, s.K, s.N, transpose_b);
    gemm_reference(s.M, s.N, s.K, A, B, want.data(), ldc, accumulate);
    gemm(s.M, s.N, s.K, A, B, got.data(), ldc, accumulate);
    EXPECT_TRUE(same_bits(want, got))
        << "M = " << s.M << ", N = " << s.N << ", K = " << s.K << ", transposed: " << transpose_a
        << transpose_b << ", accumulate: " << accumulate << ", threads: " << num_threads();
  }

  static void expect_all_transposes_equal(Shape s) {
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        expect_equal_to_twin(s, transpose_a, transpose_b, false);
        expect_equal_to_twin(s, transpose_a, transpose_b, true);
      }
    }
  }

 private:
  const int threads_ = num_threads();
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Types);

TYPED_TEST(GemmTest, HandWorked) {
  const std::vector<TypeParam> a = {1, 2, 3, 4, 5, 6};     // 2 x 3
  const std::vector<TypeParam> b = {7, 8, 9, 10, 11, 12};  // 3 x 2
  std::vector<TypeParam> c(4);
  gemm(2, 2, 3, Matrix<TypeParam>{a.data(), 3, 1}, Matrix<TypeParam>{b.data(), 2, 1}, c.data(), 2);
  EXPECT_EQ(c, (std::vector<TypeParam>{58, 64, 139, 154}));
}

TYPED_TEST(GemmTest, EverySmallShape) {
  for (int64_t M : {1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 25}) {
    for (int64_t N : {1, 2, 3, 5, 8, 9, 15, 16, 17, 31, 33}) {
      for (int64_t K : {1, 2, 3, 7, 19}) this->expect_all_transposes_equal({M, N, K});
    }
  }
}

TYPED_TEST(GemmTest, EveryRowTail) {
  for (int64_t M = 1; M <= 26; ++M) this->expect_all_transposes_equal({M, 37, 9});
}

TYPED_TEST(GemmTest, EveryColumnTail) {
  for (int64_t N = 1; N <= 70; ++N) this->expect_all_transposes_equal({6, N, 9});
}

TYPED_TEST(GemmTest, FewRowsUseWideTiles) {
  for (int64_t M : {1, 2, 3, 4, 6}) {
    for (int64_t N : {64, 127, 128, 200, 300}) this->expect_all_transposes_equal({M, N, 21});
  }
}

TYPED_TEST(GemmTest, AttentionShapes) {
  for (int64_t T : {7, 8, 17, 64, 65}) {
    for (int64_t D : {3, 16, 64}) {
      this->expect_all_transposes_equal({T, T, D});
      this->expect_all_transposes_equal({T, D, T});
    }
  }
}

TYPED_TEST(GemmTest, SeveralBlocksOfDepth) { this->expect_all_transposes_equal({13, 35, 1200}); }

TYPED_TEST(GemmTest, SeveralBlocksOfColumns) { this->expect_all_transposes_equal({5, 2100, 17}); }

TYPED_TEST(GemmTest, BothOperandsPacked) {
  this->expect_equal_to_twin({50, 1030, 530}, true, false, false);
  this->expect_equal_to_twin({49, 900, 900}, false, true, true);
}

TYPED_TEST(GemmTest, RowsOfAThatShareCacheSets) {
  this->expect_equal_to_twin({49, 530, 1024}, false, false, false);
}

TYPED_TEST(GemmTest, OneColumn) {
  for (int64_t M : {1, 5, 16, 100, 300}) {
    const auto a = random_values<TypeParam>(M * 33, 1);
    const auto b = random_values<TypeParam>(33, 2);
    for (int64_t ldc : {1, 2}) {
      for (bool transpose : {false, true}) {
        std::vector<TypeParam> want(static_cast<size_t>(M * ldc), 5);
        std::vector<TypeParam> got = want;
        const Matrix<TypeParam> A = view(a, M, 33, transpose);
        const Matrix<TypeParam> B{b.data(), 1, 1};
        gemm_reference(M, 1, 33, A, B, want.data(), ldc, true);
        gemm(M, 1, 33, A, B, got.data(), ldc, true);
        EXPECT_TRUE(same_bits(want, got)) << M << " rows, ldc " << ldc;
      }
    }
  }
}

// Every second column, reversed rows, one repeated row, one repeated element.
TYPED_TEST(GemmTest, StridesOfEveryKind) {
  constexpr int64_t M = 14, N = 40, K = 11;
  const auto data = random_values<TypeParam>(10000, 4);
  const TypeParam* middle = data.data() + 5000;
  const std::vector<Matrix<TypeParam>> views = {
      {middle, 90, 2}, {middle, -60, 1}, {middle, 1, -70}, {middle, -3, -75}, {middle, 0, 1},
      {middle, 1, 0},  {middle, 0, 0},   {middle, 2, 90},  {middle, 41, 1}};
  for (const auto& A : views) {
    for (const auto& B : views) {
      std::vector<TypeParam> want(M * N), got(M * N);
      gemm_reference(M, N, K, A, B, want.data(), N);
      gemm(M, N, K, A, B, got.data(), N);
      EXPECT_TRUE(same_bits(want, got)) << "strides of A " << A.row_stride << ", " << A.col_stride
                                        << ", of B " << B.row_stride << ", " << B.col_stride;
    }
  }
}

TYPED_TEST(GemmTest, EmptySumIsZeroOrWhatWasThere) {
  const Matrix<TypeParam> none{nullptr, 1, 1};
  std::vector<TypeParam> c = {1, 2, 3, 4, 5, 6};
  gemm(2, 2, 0, none, none, c.data(), 3, true);
  EXPECT_EQ(c, (std::vector<TypeParam>{1, 2, 3, 4, 5, 6}));
  gemm(2, 2, 0, none, none, c.data(), 3);
  EXPECT_EQ(c, (std::vector<TypeParam>{0, 0, 3, 0, 0, 6}));
}

TYPED_TEST(GemmTest, NoRowsOrNoColumnsTouchNothing) {
  const std::vector<TypeParam> a(4, 1);
  TypeParam c = 7;
  const Matrix<TypeParam> A{a.data(), 2, 1};
  gemm(0, 2, 2, A, A, &c, 2);
  gemm(2, 0, 2, A, A, &c, 1);
  gemm_batched(0, 2, 2, 2, A, nullptr, A, nullptr, &c, 2, 4);
  EXPECT_EQ(c, TypeParam{7});
}

TYPED_TEST(GemmTest, NegativeZeroBecomesPlusZero) {
  const TypeParam minus_zero = -TypeParam{0};
  const TypeParam one = 1;
  TypeParam c = 3;
  gemm(1, 1, 1, Matrix<TypeParam>{&minus_zero, 1, 1}, Matrix<TypeParam>{&one, 1, 1}, &c, 1);
  EXPECT_EQ(c, TypeParam{0});
  EXPECT_FALSE(std::signbit(c));
}

// Lanes beyond a tail, and zero padding, must not let 0 * infinity into a neighbour.
TYPED_TEST(GemmTest, NonFiniteValuesStayInTheirRowAndColumn) {
  constexpr int64_t M = 15, N = 37, K = 10;
  auto a = random_values<TypeParam>(M * K, 1);
  auto b = random_values<TypeParam>(K * N, 2);
  a[4 * K + 3] = std::numeric_limits<TypeParam>::infinity();
  b[5 * N + 36] = std::numeric_limits<TypeParam>::quiet_NaN();
  for (bool transpose : {false, true}) {
    std::vector<TypeParam> c(M * N);
    std::vector<TypeParam> bt(b.size());
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) {
        bt[static_cast<size_t>(j * K + k)] = b[static_cast<size_t>(k * N + j)];
      }
    }
    const Matrix<TypeParam> B = view(transpose ? bt : b, K, N, transpose);
    gemm(M, N, K, view(a, M, K, false), B, c.data(), N);
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) {
        const TypeParam value = c[static_cast<size_t>(i * N + j)];
        if (j == 36) {
          EXPECT_TRUE(std::isnan(value));
        } else {
          EXPECT_EQ(std::isinf(value), i == 4) << i << ", " << j;
          EXPECT_FALSE(std::isnan(value));
        }
      }
    }
  }
}

TYPED_TEST(GemmTest, AnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    this->expect_equal_to_twin({130, 70, 90}, false, false, false);
    this->expect_equal_to_twin({70, 130, 90}, false, true, true);
    this->expect_equal_to_twin({1, 3000, 200}, false, true, false);
    this->expect_equal_to_twin({97, 101, 103}, true, true, false);
  }
}

// A row of the product depends on its row of A alone: the same bits from any number of rows.
TYPED_TEST(GemmTest, RowsDoNotDependOnEachOther) {
  constexpr int64_t M = 40, N = 50, K = 60;
  const auto a = random_values<TypeParam>(M * K, 1);
  const auto b = random_values<TypeParam>(K * N, 2);
  for (bool transpose : {false, true}) {
    const Matrix<TypeParam> B = view(b, K, N, transpose);
    std::vector<TypeParam> all(M * N);
    gemm(M, N, K, Matrix<TypeParam>{a.data(), K, 1}, B, all.data(), N);
    for (int64_t rows : {1, 2, 5, 13}) {
      std::vector<TypeParam> some(all.size());
      for (int64_t i = 0; i < M; i += rows) {
        const Matrix<TypeParam> A{a.data() + i * K, K, 1};
        gemm(std::min(rows, M - i), N, K, A, B, some.data() + i * N, N);
      }
      EXPECT_TRUE(same_bits(all, some)) << rows << " rows at a time";
    }
  }
}

// Trailing zeros in A change no bit: what is masked behind a row cannot be seen in it.
TYPED_TEST(GemmTest, TrailingZerosChangeNothing) {
  constexpr int64_t M = 9, N = 20, K = 700;
  auto a = random_values<TypeParam>(M * K, 1);
  const auto b = random_values<TypeParam>(K * N, 2);
  for (int64_t keep : {1, 100, 512, 513}) {
    for (int64_t i = 0; i < M; ++i) {
      std::fill(a.begin() + i * K + keep, a.begin() + (i + 1) * K, TypeParam{0});
    }
    std::vector<TypeParam> whole(M * N), prefix(M * N);
    const Matrix<TypeParam> A{a.data(), K, 1}, B{b.data(), N, 1};
    gemm(M, N, K, A, B, whole.data(), N);
    gemm(M, N, keep, A, B, prefix.data(), N);
    EXPECT_TRUE(same_bits(whole, prefix)) << "prefix of " << keep;
    a = random_values<TypeParam>(M * K, 1);
  }
}

#ifndef LOOKBACK_REFERENCE_KERNELS

// Each SIMD target that this machine can run, in turn. Targets with fma equal the twin to the bit;
// the portable baseline rounds products too, and is near it.
TYPED_TEST(GemmTest, EverySimdTarget) {
  constexpr double kTolerance = sizeof(TypeParam) == 4 ? 1e-5 : 1e-14;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const bool has_fma = target == HWY_AVX2 || target == HWY_AVX3 || target == HWY_NEON;
    for (int64_t M : {1, 4, 7, 13, 48}) {
      for (int64_t N : {3, 16, 37, 130}) {
        for (bool transpose : {false, true}) {
          constexpr int64_t K = 30;
          const auto a = random_values<TypeParam>(M * K, 1);
          const auto b = random_values<TypeParam>(K * N, 2);
          std::vector<TypeParam> want(static_cast<size_t>(M * N)), got(want.size());
          const Matrix<TypeParam> A = view(a, M, K, transpose);
          const Matrix<TypeParam> B = view(b, K, N, transpose);
          gemm_reference(M, N, K, A, B, want.data(), N);
          gemm(M, N, K, A, B, got.data(), N);
          if (has_fma) {
            EXPECT_TRUE(same_bits(want, got)) << hwy::TargetName(target) << " " << M << " x " << N;
          }
          double worst = 0;
          for (size_t i = 0; i < want.size(); ++i) {
            worst = std::max(worst, std::abs(static_cast<double>(want[i] - got[i])));
          }
          EXPECT_LE(worst, kTolerance) << hwy::TargetName(target) << " " << M << " x " << N;
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

#endif  // LOOKBACK_REFERENCE_KERNELS

}  // namespace
}  // namespace lookback::kernels
