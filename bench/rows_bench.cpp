// How fast are the kernels that are not matrix multiplications, alone? Rows x columns of float on
// the current number of threads (OMP_NUM_THREADS); bytes/s counts each input and output once. Each
// kernel is checked against its plain twin before it is timed.
//
//   lookback_bench --benchmark_filter=Rows
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/kernels/adamw.h"
#include "engine/kernels/binary.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/gelu.h"
#include "engine/kernels/layer_norm.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/softmax.h"
#include "engine/kernels/unary.h"

namespace lookback::kernels {
namespace {

using Floats = std::vector<float>;

Floats random_floats(int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  Floats values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(bits()) / static_cast<float>(1U << 30) - 2.0F;
  return values;
}

// Inputs and outputs of every kernel here, for (rows, n) elements.
struct Data {
  explicit Data(const benchmark::State& state)
      : rows(state.range(0)),
        n(state.range(1)),
        x(random_floats(rows * n, 1)),
        dy(random_floats(rows * n, 2)),
        weight(random_floats(n, 3)),
        bias(random_floats(n, 4)),
        y(x.size()),
        dx(x.size()),
        want(x.size()),
        mean(static_cast<size_t>(rows)),
        rstd(mean),
        target(static_cast<size_t>(rows)),
        dweight(weight.size()),
        dbias(weight.size()) {
    for (int64_t r = 0; r < rows; ++r) target[static_cast<size_t>(r)] = r * 7 % n;
  }

  int64_t rows, n;
  Floats x, dy, weight, bias, y, dx, want, mean, rstd;
  std::vector<int64_t> target;
  Floats dweight, dbias;

  int64_t size() const { return rows * n; }
};

bool near(const Floats& got, const Floats& want) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!(std::fabs(got[i] - want[i]) <= 1e-5F * std::fmax(1.0F, std::fabs(want[i])))) return false;
  }
  return true;
}

// Times `kernel` once its output `got` agrees with what `reference` wrote into data.want.
template <class Kernel, class Reference>
void run(benchmark::State& state, const Data& data, const Floats& got, int arrays, Kernel kernel,
         Reference reference) {
  reference();
  kernel();
  if (!near(got, data.want)) {
    state.SkipWithError("the kernel differs from its plain twin");
    return;
  }
  for (auto _ : state) {
    kernel();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * arrays * data.size() *
                          static_cast<int64_t>(sizeof(float)));
}

void BM_RowsSoftmax(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.y, 2, [&] { softmax_rows(d.rows, d.n, d.x.data(), d.n, d.y.data(), d.n); },
      [&] { softmax_rows_reference(d.rows, d.n, d.x.data(), d.n, d.want.data(), d.n); });
}

void BM_RowsSoftmaxBackward(benchmark::State& state) {
  Data d(state);
  softmax_rows(d.rows, d.n, d.x.data(), d.n, d.y.data(), d.n);
  run(
      state, d, d.dx, 3,
      [&] { softmax_backward_rows(d.rows, d.n, d.y.data(), d.dy.data(), d.dx.data()); },
      [&] {
        softmax_backward_rows_reference(d.rows, d.n, d.y.data(), d.dy.data(), d.want.data());
      });
}

// The upper half is -inf: half the exponentials.
void BM_RowsCausalSoftmax(benchmark::State& state) {
  Data d(state);
  for (int64_t i = 0; i < d.size(); ++i) {
    if (i % d.n > i / d.n) d.x[static_cast<size_t>(i)] = -INFINITY;
  }
  run(
      state, d, d.y, 2, [&] { softmax_rows(d.rows, d.n, d.x.data(), d.n, d.y.data(), d.n); },
      [&] { softmax_rows_reference(d.rows, d.n, d.x.data(), d.n, d.want.data(), d.n); });
}

void BM_RowsLayerNorm(benchmark::State& state) {
  Data d(state);
  const auto call = [&](auto f, Floats& y) {
    f(d.rows, d.n, d.x.data(), d.weight.data(), d.bias.data(), 1e-5, y.data(), d.mean.data(),
      d.rstd.data());
  };
  run(
      state, d, d.y, 2, [&] { call([](auto... a) { layer_norm_rows(a...); }, d.y); },
      [&] { call([](auto... a) { layer_norm_rows_reference(a...); }, d.want); });
}

// With the gradients of the parameters.
void BM_RowsLayerNormBackward(benchmark::State& state) {
  Data d(state);
  layer_norm_rows(d.rows, d.n, d.x.data(), d.weight.data(), d.bias.data(), 1e-5, d.y.data(),
                  d.mean.data(), d.rstd.data());
  run(
      state, d, d.dx, 3,
      [&] {
        layer_norm_backward_rows(d.rows, d.n, d.x.data(), d.weight.data(), d.mean.data(),
                                 d.rstd.data(), d.dy.data(), d.dx.data());
        layer_norm_backward_parameters(d.rows, d.n, d.x.data(), d.mean.data(), d.rstd.data(),
                                       d.dy.data(), d.dweight.data(), d.dbias.data());
      },
      [&] {
        layer_norm_backward_rows_reference(d.rows, d.n, d.x.data(), d.weight.data(), d.mean.data(),
                                           d.rstd.data(), d.dy.data(), d.want.data());
      });
}

void BM_RowsGelu(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.y, 2, [&] { gelu_run(d.size(), d.x.data(), d.y.data()); },
      [&] { gelu_run_reference(d.size(), d.x.data(), d.want.data()); });
}

void BM_RowsGeluBackward(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.dx, 3, [&] { gelu_backward_run(d.size(), d.x.data(), d.dy.data(), d.dx.data()); },
      [&] { gelu_backward_run_reference(d.size(), d.x.data(), d.dy.data(), d.want.data()); });
}

// Forward and backward, as a training step has them; the losses lie where the gradient will.
void BM_RowsCrossEntropy(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.dx, 2,
      [&] {
        cross_entropy_rows(d.rows, d.n, d.x.data(), d.target.data(), d.dx.data(), d.mean.data(),
                           d.rstd.data());
        cross_entropy_backward_rows(d.rows, d.n, d.x.data(), d.mean.data(), d.rstd.data(),
                                    d.target.data(), 1.0F, d.dx.data());
      },
      [&] {
        cross_entropy_rows_reference(d.rows, d.n, d.x.data(), d.target.data(), d.want.data(),
                                     d.mean.data(), d.rstd.data());
        cross_entropy_backward_rows_reference(d.rows, d.n, d.x.data(), d.mean.data(), d.rstd.data(),
                                              d.target.data(), 1.0F, d.want.data());
      });
}

void BM_RowsExp(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.y, 2, [&] { exp_run(d.size(), d.x.data(), d.y.data()); },
      [&] { exp_run_reference(d.size(), d.x.data(), d.want.data()); });
}

void BM_RowsAdd(benchmark::State& state) {
  Data d(state);
  run(
      state, d, d.y, 3, [&] { add_run(d.size(), d.x.data(), 1, d.dy.data(), 1, d.y.data()); },
      [&] { add_run_reference(d.size(), d.x.data(), 1, d.dy.data(), 1, d.want.data()); });
}

void BM_RowsSumOfEachRow(benchmark::State& state) {
  Data d(state);
  d.want.resize(d.mean.size());
  run(
      state, d, d.mean, 1, [&] { sum_rows(d.rows, d.n, d.x.data(), d.n, d.mean.data()); },
      [&] { sum_rows_reference(d.rows, d.n, d.x.data(), d.n, d.want.data()); });
}

void BM_RowsSumOfEachColumn(benchmark::State& state) {
  Data d(state);
  d.want.resize(d.dbias.size());
  run(
      state, d, d.dbias, 1, [&] { sum_columns(d.rows, d.n, d.x.data(), d.n, d.dbias.data()); },
      [&] { sum_columns_reference(d.rows, d.n, d.x.data(), d.n, d.want.data()); });
}

void BM_RowsAdamw(benchmark::State& state) {
  Data d(state);
  Floats m(d.x.size());
  Floats v(d.x.size());
  for (auto _ : state) {
    adamw_step(d.size(), d.x.data(), d.dy.data(), m.data(), v.data(), 1e-3, 0.9, 0.999, 1e-8, 0.01,
               0.1, 0.001);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 7 * d.size() * 4);
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"rows", "n"})->Args({64, 64})->Args({1024, 1024})->UseRealTime();
}

BENCHMARK(BM_RowsSoftmax)->Apply(shapes)->Args({64, 16});
BENCHMARK(BM_RowsSoftmaxBackward)->Apply(shapes);
BENCHMARK(BM_RowsCausalSoftmax)->Apply(shapes);
BENCHMARK(BM_RowsLayerNorm)->Apply(shapes);
BENCHMARK(BM_RowsLayerNormBackward)->Apply(shapes);
BENCHMARK(BM_RowsGelu)->Apply(shapes);
BENCHMARK(BM_RowsGeluBackward)->Apply(shapes);
BENCHMARK(BM_RowsCrossEntropy)->Apply(shapes);
BENCHMARK(BM_RowsExp)->Apply(shapes);
BENCHMARK(BM_RowsAdd)->Apply(shapes)->Args({1, 16});
BENCHMARK(BM_RowsSumOfEachRow)->Apply(shapes);
BENCHMARK(BM_RowsSumOfEachColumn)->Apply(shapes);
BENCHMARK(BM_RowsAdamw)->Apply(shapes);

}  // namespace
}  // namespace lookback::kernels
