// How fast are the fused attention kernels? Useful GFLOP/s: 2 products forward, 5 backward, over
// the pairs (query, key) that are not hidden.
//
//   build/bench/lookback_bench --benchmark_filter=attention
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kernels/threads.h"

namespace lookback {
namespace {

struct Sizes {
  int64_t B, H, G, Tq, Tk, d;
};

template <class T>
class Problem {
 public:
  explicit Problem(const Sizes& s)
      : sizes(s),
        shape{s.B,
              s.H,
              s.G,
              s.Tq,
              s.Tk,
              s.d,
              s.d,
              1 / std::sqrt(static_cast<double>(s.d)),
              /*causal=*/true,
              /*window=*/0},
        q(numbers(s.B * s.H * s.Tq * s.d)),
        k(numbers(s.B * s.G * s.Tk * s.d)),
        v(numbers(s.B * s.G * s.Tk * s.d)),
        dout(numbers(s.B * s.H * s.Tq * s.d)),
        lse(static_cast<size_t>(s.B * s.H * s.Tq)) {}

  void forward() {
    kernels::attention_forward(shape, in(q, sizes.H, sizes.Tq), in(k, sizes.G, sizes.Tk),
                               in(v, sizes.G, sizes.Tk), {}, to(out, sizes.H, sizes.Tq),
                               lse.data());
  }
  void backward() {
    kernels::attention_backward(shape, in(q, sizes.H, sizes.Tq), in(k, sizes.G, sizes.Tk),
                                in(v, sizes.G, sizes.Tk), {}, in(out, sizes.H, sizes.Tq),
                                lse.data(), in(dout, sizes.H, sizes.Tq), to(dq, sizes.H, sizes.Tq),
                                to(dk, sizes.G, sizes.Tk), to(dv, sizes.G, sizes.Tk));
  }

  // Flops of one product over all pairs (query, key) that are not hidden.
  double flops() const {
    double pairs = 0;
    for (int64_t i = 0; i < sizes.Tq; ++i) {
      const kernels::KeyRange keys = kernels::visible_keys(shape, i);
      pairs += static_cast<double>(keys.end - keys.begin);
    }
    return pairs * static_cast<double>(sizes.B * sizes.H * 2 * sizes.d);
  }

 private:
  std::vector<T> numbers(int64_t count) {
    std::normal_distribution<double> normal;
    std::vector<T> x(static_cast<size_t>(count));
    for (T& element : x) element = static_cast<T>(normal(random));
    return x;
  }
  kernels::Operand<T> in(const std::vector<T>& x, int64_t heads, int64_t rows) const {
    return {x.data(), heads * rows * sizes.d, rows * sizes.d, sizes.d};
  }
  kernels::MutableOperand<T> to(std::vector<T>& x, int64_t heads, int64_t rows) const {
    return {x.data(), heads * rows * sizes.d, rows * sizes.d, sizes.d};
  }

  std::mt19937 random{1};
  Sizes sizes;
  kernels::AttentionShape shape;
  std::vector<T> q, k, v, dout, lse;
  std::vector<T> out = dout, dq = q, dk = k, dv = v;
};

enum class Pass { kForward, kBackward };

template <class T>
void run(benchmark::State& state, Pass pass, const Sizes& sizes, int threads) {
  const int before = num_threads();
  set_num_threads(threads);
  Problem<T> problem(sizes);
  problem.forward();
  for (auto _ : state) {
    if (pass == Pass::kForward) {
      problem.forward();
    } else {
      problem.backward();
    }
  }
  set_num_threads(before);
  const double products = pass == Pass::kForward ? 2 : 5;
  state.counters["FLOP/s"] =
      benchmark::Counter(products * problem.flops(), benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
void add(const char* what, const Sizes& s, int threads) {
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    if (pass == Pass::kBackward && s.Tq == 1) continue;  // no one trains one token at a time
    const std::string name = std::string("attention/") + what +
                             (pass == Pass::kForward ? "/forward" : "/backward") +
                             (sizeof(T) == 4 ? "/f32" : "/f64") + "/B:" + std::to_string(s.B) +
                             "/H:" + std::to_string(s.H) + "/G:" + std::to_string(s.G) +
                             "/Tq:" + std::to_string(s.Tq) + "/Tk:" + std::to_string(s.Tk) +
                             "/d:" + std::to_string(s.d) + "/threads:" + std::to_string(threads);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State& state) { run<T>(state, pass, s, threads); })
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
}

const bool registered = [] {
  add<float>("one_head", {1, 1, 1, 2048, 2048, 64}, 1);
  add<double>("one_head", {1, 1, 1, 2048, 2048, 64}, 1);
  for (const int threads : {1, 2}) add<float>("threads", {1, 1, 1, 4096, 4096, 64}, threads);
  for (int64_t T = 1024; T <= 16384; T *= 4) add<float>("growth", {1, 1, 1, T, T, 64}, 1);
  add<float>("small", {4, 1, 1, 8, 8, 16}, 1);
  add<float>("small", {1, 1, 1, 64, 64, 16}, 1);
  add<float>("small", {8, 1, 1, 128, 128, 16}, 1);
  add<float>("small", {4, 1, 1, 256, 256, 64}, 1);
  add<float>("decode", {1, 1, 1, 1, 2048, 64}, 1);
  add<float>("decode", {1, 8, 2, 1, 2048, 64}, 1);
  return true;
}();

}  // namespace
}  // namespace lookback
