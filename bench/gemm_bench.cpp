// How fast is matrix multiplication, alone? GFLOP/s (counting 2 M N K) on the current number of
// threads (OMP_NUM_THREADS). Each case is checked against the plain twin before it is timed.
//
//   lookback_bench --benchmark_filter=Gemm
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/kernels/gemm.h"

namespace lookback::kernels {
namespace {

template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) v = static_cast<T>(bits()) / static_cast<T>(1u << 31) - T{1};
  return values;
}

template <class T>
Matrix<T> row_major(const std::vector<T>& data, int64_t columns) {
  return {data.data(), columns, 1};
}

// The transpose of a row-major matrix with `columns` columns.
template <class T>
Matrix<T> transposed(const std::vector<T>& data, int64_t columns) {
  return {data.data(), 1, columns};
}

void count_flops(benchmark::State& state, int64_t batch, int64_t M, int64_t N, int64_t K) {
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(batch * M * N * K),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void run(benchmark::State& state, int64_t M, int64_t N, int64_t K, const Matrix<T>& A,
         const Matrix<T>& B) {
  const int64_t checked = std::min<int64_t>(M, 13);
  std::vector<T> want(static_cast<size_t>(checked * N));
  gemm_reference(checked, N, K, A, B, want.data(), N);
  std::vector<T> c(static_cast<size_t>(M * N));
  gemm(M, N, K, A, B, c.data(), N);
  if (!std::equal(want.begin(), want.end(), c.begin())) {
    state.SkipWithError("gemm differs from its plain twin");
    return;
  }
  for (auto _ : state) {
    gemm(M, N, K, A, B, c.data(), N);
    benchmark::ClobberMemory();
  }
  count_flops(state, 1, M, N, K);
}

// C = A B, all n x n.
template <class T>
void BM_GemmSquare(benchmark::State& state) {
  const int64_t n = state.range(0);
  const auto a = random_values<T>(n * n, 1);
  const auto b = random_values<T>(n * n, 2);
  run<T>(state, n, n, n, row_major(a, n), row_major(b, n));
}
BENCHMARK_TEMPLATE(BM_GemmSquare, float)->RangeMultiplier(2)->Range(8, 2048)->UseRealTime();
BENCHMARK_TEMPLATE(BM_GemmSquare, double)->RangeMultiplier(4)->Range(16, 1024)->UseRealTime();

// A linear layer: x (rows, d) times W^T with W (d, d).
void BM_GemmLinear(benchmark::State& state) {
  const int64_t rows = state.range(0), d = state.range(1);
  const auto x = random_values<float>(rows * d, 1);
  const auto w = random_values<float>(d * d, 2);
  run<float>(state, rows, d, d, row_major(x, d), transposed(w, d));
}
BENCHMARK(BM_GemmLinear)
    ->ArgNames({"rows", "d"})
    ->ArgsProduct({{1, 8, 64, 256}, {16, 64, 512}})
    ->UseRealTime();

// The gradient of a weight: dy^T (d, rows) times x (rows, d).
void BM_GemmWeightGradient(benchmark::State& state) {
  const int64_t rows = state.range(0), d = state.range(1);
  const auto dy = random_values<float>(rows * d, 1);
  const auto x = random_values<float>(rows * d, 2);
  run<float>(state, d, d, rows, transposed(dy, d), row_major(x, d));
}
BENCHMARK(BM_GemmWeightGradient)
    ->ArgNames({"rows", "d"})
    ->ArgsProduct({{64, 256}, {16, 64, 512}})
    ->UseRealTime();

// Attention scores of a batch of 8: q k^T, both (T, d).
void BM_GemmScores(benchmark::State& state) {
  constexpr int64_t kBatch = 8;
  const int64_t T = state.range(0), d = state.range(1);
  const auto q = random_values<float>(kBatch * T * d, 1);
  const auto k = random_values<float>(kBatch * T * d, 2);
  std::vector<int64_t> offset;
  for (int64_t i = 0; i < kBatch; ++i) offset.push_back(i * T * d);
  std::vector<float> scores(static_cast<size_t>(kBatch * T * T));
  for (auto _ : state) {
    gemm_batched(kBatch, T, T, d, row_major(q, d), offset.data(), transposed(k, d), offset.data(),
                 scores.data(), T, T * T);
    benchmark::ClobberMemory();
  }
  count_flops(state, kBatch, T, T, d);
}
BENCHMARK(BM_GemmScores)
    ->ArgNames({"T", "d"})
    ->ArgsProduct({{8, 64, 256}, {16, 64}})
    ->UseRealTime();

}  // namespace
}  // namespace lookback::kernels
