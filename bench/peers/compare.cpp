// Runs every workload on lookback and on its peer, interleaved, in one process and with the same
// number of threads; compares their results before timing; prints a Markdown table of medians.
// Arguments choose groups of rows: matmul heads attention growth ops threads.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>

#include "bench/peers/measure.h"
#include "bench/peers/workload.h"
#include "engine/engine.h"

namespace lookback::peers {
namespace {

bool all_agree = true;
const double peak = fma_peak();

void compare(const Workload& work) {
  const double error = difference(work.ours.results(), work.theirs.results());
  if (!(error <= work.tolerance)) {
    std::printf("| %s | %s | results differ by %.3g: not timed | | | | | **no** |\n",
                work.name.c_str(), work.peer.c_str(), error);
    all_agree = false;
    return;
  }
  const Timing t = measure(work.ours.run, work.theirs.run);
  std::string ours = time_text(t.ours);
  std::string theirs = time_text(t.theirs);
  if (work.flops > 0) {
    ours += " (" + std::to_string(std::lround(work.flops / t.ours * 1e-9)) + " GFLOP/s)";
    theirs += " (" + std::to_string(std::lround(work.flops / t.theirs * 1e-9)) + " GFLOP/s)";
  }
  print_row({.work = work.name,
             .peer = work.peer,
             .ours = ours,
             .theirs = theirs,
             .ratio = t.theirs / t.ours,
             .goal = work.goal,
             .ceiling = work.flops > 0 ? t.theirs / (work.flops / (peak * num_threads())) : 0});
}

void set_threads(int count) {
  set_num_threads(count);
  set_peer_threads(count);
}

void compare_matmul() {
  for (const int threads : {1, 2}) {
    set_threads(threads);
    for (const int64_t n : {256, 512, 1024, 2048}) {
      const Numbers a = random_numbers(n * n, 1);
      const Numbers b = random_numbers(n * n, 2);
      compare({"matmul f32, n = " + std::to_string(n) + ", threads " + std::to_string(threads),
               "OpenBLAS", our_matmul(n, n, n, false, a, b), openblas_matmul(n, a, b), 1.0, 1e-4,
               2.0 * static_cast<double>(n * n * n)});
    }
  }
  set_threads(1);
  struct Case {
    int64_t M, K, N;
    bool transpose_b;
    double goal = 1.5;
  };
  for (const Case& c :
       {Case{8, 8, 8, false}, Case{16, 16, 16, false}, Case{32, 32, 32, false},
        Case{64, 64, 64, false}, Case{8, 16, 8, true}, Case{64, 16, 64, true},
        Case{64, 64, 64, true}, Case{128, 16, 128, true}, Case{1, 512, 512, true, 1.0}}) {
    const Numbers a = random_numbers(c.M * c.K, 1);
    const Numbers b = random_numbers(c.K * c.N, 2);
    compare({"matmul (" + std::to_string(c.M) + " x " + std::to_string(c.K) + ")(" +
                 std::to_string(c.K) + " x " + std::to_string(c.N) + ")" +
                 (c.transpose_b ? ", right one transposed" : ""),
             "PyTorch", our_matmul(c.M, c.K, c.N, c.transpose_b, a, b),
             torch_matmul(c.M, c.K, c.N, c.transpose_b, a, b), c.goal, 1e-4,
             2.0 * static_cast<double>(c.M * c.K * c.N)});
  }
}

// Causal attention of one head looks at T (T + 1) / 2 scores: 2 d FLOPs each in q k^T and in P v;
// the backward pass has five such products.
double useful_flops(int64_t T, int64_t d, bool backward) {
  const double pairs = static_cast<double>(T) * static_cast<double>(T + 1) / 2;
  return pairs * 2.0 * static_cast<double>(d) * (backward ? 7.0 : 2.0);
}

// The same, with three projections (B T d d_head multiply-adds each) that have two gradients.
double head_flops(int64_t B, int64_t T, int64_t d, int64_t d_head) {
  return static_cast<double>(18 * B * T * d * d_head) +
         static_cast<double>(B) * useful_flops(T, d_head, true);
}

void compare_heads() {
  struct Case {
    int64_t B, T, d, d_head;
    double goal;
  };
  for (const Case& c : {Case{4, 8, 32, 16, 8.0}, Case{1, 64, 32, 16, 5.0},
                        Case{8, 128, 64, 16, 3.0}, Case{4, 256, 64, 64, 2.5}}) {
    const Numbers x = random_numbers(c.B * c.T * c.d, 1);
    const Numbers w = random_numbers(3 * c.d * c.d_head, 2);
    compare({"Head forward+backward (" + std::to_string(c.B) + ", " + std::to_string(c.T) + ", " +
                 std::to_string(c.d) + ", " + std::to_string(c.d_head) + ")",
             "PyTorch", our_head(c.B, c.T, c.d, c.d_head, x, w),
             torch_head(c.B, c.T, c.d, c.d_head, x, w), c.goal, 1e-3,
             head_flops(c.B, c.T, c.d, c.d_head)});
  }
}

void compare_small_ops() {
  compare({"add of two 16-element tensors, recorded", "PyTorch",
           our_small_add(random_numbers(16, 1), random_numbers(16, 2)),
           torch_small_add(random_numbers(16, 1), random_numbers(16, 2)), 5.0});
  const Numbers x = random_numbers(1024 * 1024, 3);
  for (const char* op : {"softmax", "layer_norm", "gelu", "cross_entropy"}) {
    compare({std::string(op) + " forward+backward, 1024 x 1024", "PyTorch", our_row_op(op, 1024, x),
             torch_row_op(op, 1024, x), 1.5});
  }
}

void compare_attention() {
  constexpr int64_t T = 2048;
  constexpr int64_t d = 64;
  const Numbers q = random_numbers(T * d, 1);
  const Numbers k = random_numbers(T * d, 2);
  const Numbers v = random_numbers(T * d, 3);
  for (const bool backward : {false, true}) {
    compare(
        {std::string("fused attention, T = 2048, d = 64, forward") + (backward ? "+backward" : ""),
         "PyTorch", our_attention(T, d, backward, q, k, v),
         torch_attention(T, d, backward, q, k, v), 4.0, 1e-4, useful_flops(T, d, backward)});
  }
  const Side product = our_matmul(1024, 1024, 1024, false, random_numbers(1024 * 1024, 1),
                                  random_numbers(1024 * 1024, 2));
  const Side forward = our_attention(T, d, false, q, k, v);
  const Side both = our_attention(T, d, true, q, k, v);
  const Timing t = measure(forward.run, product.run);
  const Timing u = measure(both.run, product.run);
  const double matmul_rate = 2.0 * 1024 * 1024 * 1024 / t.theirs;
  const double forward_rate = useful_flops(T, d, false) / t.ours;
  const double backward_rate =
      (useful_flops(T, d, true) - useful_flops(T, d, false)) / (u.ours - t.ours);
  const auto rate = [](double r) { return std::to_string(std::lround(r * 1e-9)) + " GFLOP/s"; };
  print_row({"the same, useful FLOPs, forward", "own matmul, n = 1024", rate(forward_rate),
             rate(matmul_rate), forward_rate / matmul_rate, 0.70});
  print_row({"the same, useful FLOPs, backward", "own matmul, n = 1024", rate(backward_rate),
             rate(matmul_rate), backward_rate / matmul_rate, 0.60});
}

// Peak bytes of one forward and backward above the inputs.
double attention_bytes(int64_t T) {
  const Side side = our_attention(T, 64, true, random_numbers(T * 64, 1), random_numbers(T * 64, 2),
                                  random_numbers(T * 64, 3));
  const int64_t before = allocator_statistics().bytes_in_use;
  reset_peak_bytes();
  side.run();
  return static_cast<double>(allocator_statistics().peak_bytes - before);
}

void compare_growth() {
  const double bytes = attention_bytes(8192);
  print_row({"fused forward+backward, T = 8192, d = 64: MiB above the inputs", "T x T alone",
             std::to_string(std::lround(bytes / 1048576)) + " MiB", "256 MiB", bytes / 1048576, 32,
             "<="});
  std::vector<double> lengths;
  std::vector<double> times;
  std::vector<double> peaks;
  for (const int64_t T : {1024, 2048, 4096, 8192, 16384}) {
    const Side side = our_attention(T, 64, true, random_numbers(T * 64, 1),
                                    random_numbers(T * 64, 2), random_numbers(T * 64, 3));
    side.run();
    std::vector<double> samples;
    for (int i = 0; i < 3; ++i) samples.push_back(seconds_of(side.run, repeats_for(side.run)));
    lengths.push_back(static_cast<double>(T));
    times.push_back(median(samples));
    peaks.push_back(attention_bytes(T));
  }
  print_row({"growth of time, fused, T = 1024 to 16384", "itself", time_text(times.front()),
             time_text(times.back()), exponent(lengths, times), 2.05, "<="});
  print_row({"growth of memory, the same", "itself",
             std::to_string(std::lround(peaks.front() / 1024)) + " KiB",
             std::to_string(std::lround(peaks.back() / 1024)) + " KiB", exponent(lengths, peaks),
             1.05, "<="});
}

void compare_threads() {
  const auto two_against_one = [](const std::string& name, const std::function<void()>& run) {
    const Timing t = measure(
        [&] {
          set_num_threads(2);
          run();
        },
        [&] {
          set_num_threads(1);
          run();
        });
    print_row({name, "one thread", time_text(t.ours), time_text(t.theirs), t.theirs / t.ours, 1.8});
  };
  two_against_one("two threads, matmul n = 1024",
                  our_matmul(1024, 1024, 1024, false, random_numbers(1024 * 1024, 1),
                             random_numbers(1024 * 1024, 2))
                      .run);
  for (const bool backward : {false, true}) {
    two_against_one(
        std::string("two threads, fused T = 4096, forward") + (backward ? "+backward" : ""),
        our_attention(4096, 64, backward, random_numbers(4096 * 64, 1),
                      random_numbers(4096 * 64, 2), random_numbers(4096 * 64, 3))
            .run);
  }
  set_threads(1);
}

struct Group {
  const char* name;
  void (*run)();
};

constexpr Group kGroups[] = {{"matmul", compare_matmul},       {"heads", compare_heads},
                             {"attention", compare_attention}, {"growth", compare_growth},
                             {"ops", compare_small_ops},       {"threads", compare_threads}};

bool is_group(const std::string& name) {
  return std::any_of(std::begin(kGroups), std::end(kGroups),
                     [&](const Group& group) { return name == group.name; });
}

// Runs the named groups, or all of them. Exit code 1 if a result differed, 2 for a wrong name.
int run(const std::vector<std::string>& chosen) {
  for (const std::string& name : chosen) {
    if (is_group(name)) continue;
    std::fprintf(stderr, "lookback_peers: there is no group '%s'; choose from", name.c_str());
    for (const Group& group : kGroups) std::fprintf(stderr, " %s", group.name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  print_header();
  set_threads(1);
  for (const Group& group : kGroups) {
    const bool wanted =
        chosen.empty() || std::find(chosen.begin(), chosen.end(), group.name) != chosen.end();
    if (wanted) group.run();
  }
  return all_agree ? 0 : 1;
}

}  // namespace
}  // namespace lookback::peers

int main(int argc, char** argv) { return lookback::peers::run({argv + 1, argv + argc}); }
