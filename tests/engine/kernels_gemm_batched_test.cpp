// gemm_batched against its plain twin, bit for bit: own, shared and grouped operands, batches that
// are one tall product in disguise, gaps between the products, and any number of threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/kernels/gemm.h"
#include "engine/kernels/threads.h"
#include "tests/engine/kernels_gemm_support.h"

namespace lookback::kernels {
namespace {

template <class T>
class GemmBatchedTest : public testing::Test {
 protected:
  ~GemmBatchedTest() override { set_num_threads(threads_); }

 private:
  const int threads_ = num_threads();
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmBatchedTest, Types);

struct BatchCase {
  const char* name;
  std::vector<int64_t> a_offset, b_offset;
};

TYPED_TEST(GemmBatchedTest, BatchesOfEveryKind) {
  constexpr int64_t M = 9, N = 20, K = 12;
  const auto a = random_values<TypeParam>(8 * M * K, 1);
  const auto b = random_values<TypeParam>(8 * K * N, 2);
  const std::vector<BatchCase> cases = {{"one", {0}, {0}},
                                        {"own operands", {0, 108, 216}, {0, 240, 480}},
                                        {"shared B", {0, 108, 216, 324}, {0, 0, 0, 0}},
                                        {"shared B, any order", {216, 0, 324}, {5, 5, 5}},
                                        {"shared A", {7, 7, 7}, {0, 240, 480}},
                                        {"grouped", {0, 108, 216, 324}, {0, 0, 240, 240}}};
  for (const BatchCase& c : cases) {
    const auto batch = static_cast<int64_t>(c.a_offset.size());
    for (bool transpose : {false, true}) {
      for (int threads : {1, 2, 8}) {
        for (int64_t gap : {0, 6}) {
          set_num_threads(threads);
          const Matrix<TypeParam> A = view(a, M, K, false);
          const Matrix<TypeParam> B = view(b, K, N, transpose);
          std::vector<TypeParam> want(static_cast<size_t>(batch * (M * N + gap)), 2);
          std::vector<TypeParam> got = want;
          gemm_batched_reference(batch, M, N, K, A, c.a_offset.data(), B, c.b_offset.data(),
                                 want.data(), N, M * N + gap);
          gemm_batched(batch, M, N, K, A, c.a_offset.data(), B, c.b_offset.data(), got.data(), N,
                       M * N + gap);
          EXPECT_TRUE(same_bits(want, got)) << c.name << ", " << threads << " threads";
        }
      }
    }
  }
}

TYPED_TEST(GemmBatchedTest, LargeBatchOnThreads) {
  constexpr int64_t kBatch = 50, M = 32, N = 32, K = 16;
  const auto a = random_values<TypeParam>(kBatch * M * K, 1);
  const auto b = random_values<TypeParam>(kBatch * K * N, 2);
  std::vector<int64_t> a_offset(kBatch), b_offset(kBatch);
  for (size_t i = 0; i < kBatch; ++i) {
    a_offset[i] = static_cast<int64_t>(i) * M * K;
    b_offset[i] = static_cast<int64_t>(i) * K * N;
  }
  const Matrix<TypeParam> A{a.data(), K, 1}, B{b.data(), 1, K};
  std::vector<TypeParam> want(kBatch * M * N), got(want.size());
  gemm_batched_reference(kBatch, M, N, K, A, a_offset.data(), B, b_offset.data(), want.data(), N,
                         M * N);
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    gemm_batched(kBatch, M, N, K, A, a_offset.data(), B, b_offset.data(), got.data(), N, M * N);
    EXPECT_TRUE(same_bits(want, got)) << threads << " threads";
  }
}

TYPED_TEST(GemmBatchedTest, BatchOfEmptySums) {
  const Matrix<TypeParam> none{nullptr, 1, 1};
  const std::vector<int64_t> offset = {0, 0, 0};
  std::vector<TypeParam> c(12, 9);
  gemm_batched(3, 2, 2, 0, none, offset.data(), none, offset.data(), c.data(), 2, 4);
  EXPECT_EQ(c, std::vector<TypeParam>(12, 0));
}

}  // namespace
}  // namespace lookback::kernels
