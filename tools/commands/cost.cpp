// lookback cost: what attention costs as sequences grow.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "attention/fused.h"
#include "attention/kv_cache.h"
#include "attention/masks.h"
#include "attention/scaled_dot_product.h"
#include "engine/backward.h"
#include "engine/kernels/threads.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/plot/lines.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

constexpr int64_t kHeadDim = 64;

double median_seconds(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  while (
      samples.size() < 3 ||
      (samples.size() < 15 && std::chrono::duration<double>(Clock::now() - begin).count() < 0.4)) {
    const Clock::time_point start = Clock::now();
    run();
    samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<int64_t>(samples.size() / 2),
                   samples.end());
  return samples[samples.size() / 2];
}

struct Fit {
  double exponent;
  double half_interval;  // 95 %, from the residuals of the straight line
};

// log y = a + exponent log T, by least squares.
Fit fit(const std::vector<double>& T, const std::vector<double>& y) {
  const auto n = static_cast<double>(T.size());
  double mx = 0;
  double my = 0;
  for (size_t i = 0; i < T.size(); ++i) {
    mx += std::log(T[i]) / n;
    my += std::log(y[i]) / n;
  }
  double sxx = 0;
  double sxy = 0;
  for (size_t i = 0; i < T.size(); ++i) {
    sxx += (std::log(T[i]) - mx) * (std::log(T[i]) - mx);
    sxy += (std::log(T[i]) - mx) * (std::log(y[i]) - my);
  }
  const double slope = sxy / sxx;
  double squares = 0;
  for (size_t i = 0; i < T.size(); ++i) {
    const double r = std::log(y[i]) - my - slope * (std::log(T[i]) - mx);
    squares += r * r;
  }
  // Student's t at 97.5 % for n - 2 degrees of freedom.
  static constexpr double kT[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31};
  const size_t freedom = std::min<size_t>(T.size() - 2, 8);
  return {slope, kT[freedom - 1] * std::sqrt(squares / (n - 2) / sxx)};
}

std::string fit_text(const std::string& name, const Fit& f) {
  return name + ": time grows as T^" + plot::format_number(f.exponent, 3) + " (± " +
         plot::format_number(f.half_interval, 2) + ")";
}

struct Row {
  double T, dense, fused, flops, dense_bytes, fused_bytes;
};

int64_t peak_bytes(const std::function<void()>& run) {
  const int64_t before = allocator_statistics().bytes_in_use;
  reset_peak_bytes();
  run();
  return allocator_statistics().peak_bytes - before;
}

Row measure(int64_t T, uint64_t seed) {
  Generator generator(seed);
  const Tensor q = randn({T, kHeadDim}, generator);
  const Tensor k = randn({T, kHeadDim}, generator);
  const Tensor v = randn({T, kHeadDim}, generator);
  const Tensor mask = attention::causal_mask(T, T);
  const auto dense = [&] { attention::scaled_dot_product_attention(q, k, v, mask); };
  const auto fused = [&] { attention::fused_attention(q, k, v, {}, {.causal = true}); };
  const auto t = static_cast<double>(T);
  return {t,
          median_seconds(dense),
          median_seconds(fused),
          4 * t * t * kHeadDim,
          static_cast<double>(peak_bytes(dense)),
          static_cast<double>(peak_bytes(fused))};
}

plot::Series series_of(const std::string& name, const std::vector<double>& x,
                       const std::vector<double>& y) {
  plot::Series series;
  series.name = name;
  series.x = x;
  series.y = y;
  return series;
}

// Predicted and allocated bytes of a cache that grows with the text: keys and values, one layer.
Table cache_table() {
  Table table;
  table.title =
      "The cache of one layer: 2 x kv_heads x t x d_k x bytes x batch (4 kv heads, d_k 64)";
  table.header = {"t", "predicted bytes", "bytes held", "bytes allocated for t"};
  for (const int64_t t : {256, 1024, 4096}) {
    const int64_t before = allocator_statistics().bytes_in_use;
    attention::KVCache cache(1, 4, t, 64);
    const Tensor token = zeros({1, 4, t, 64});
    const int64_t allocated = allocator_statistics().bytes_in_use - before - token.numel() * 4;
    cache.append(token, token);
    table.rows.push_back({std::to_string(t),
                          std::to_string(2 * attention::kv_cache_bytes(1, 4, t, 64, DType::f32, 1)),
                          std::to_string(cache.bytes()), std::to_string(allocated)});
  }
  return table;
}

}  // namespace

Section cost_section(int64_t max_T, uint64_t seed, const std::string& command) {
  const NoGradGuard no_grad;
  std::vector<double> T, dense, fused, dense_bytes, fused_bytes;
  Table table;
  table.title = "One causal head, d = 64; FLOPs counted for the full T x T";
  table.header = {"T",           "dense (ms)", "fused (ms)", "FLOPs", "dense GFLOP/s",
                  "dense bytes", "fused bytes"};
  for (int64_t t = 256; t <= max_T; t *= 2) {
    const Row row = measure(t, seed);
    T.push_back(row.T);
    dense.push_back(row.dense);
    fused.push_back(row.fused);
    dense_bytes.push_back(row.dense_bytes);
    fused_bytes.push_back(row.fused_bytes);
    table.rows.push_back({std::to_string(t), plot::format_number(row.dense * 1e3, 4),
                          plot::format_number(row.fused * 1e3, 4),
                          plot::format_number(row.flops, 4),
                          plot::format_number(row.flops / row.dense * 1e-9, 3),
                          std::to_string(static_cast<int64_t>(row.dense_bytes)),
                          std::to_string(static_cast<int64_t>(row.fused_bytes))});
  }
  const Fit dense_fit = fit(T, dense);
  const Fit fused_fit = fit(T, fused);
  plot::LinePlot time;
  time.title = "Time of the forward pass";
  time.series = {series_of("dense", T, dense), series_of("fused", T, fused)};
  time.x_title = "T";
  time.y_title = "seconds";
  time.log_x = time.log_y = true;
  time.x_ticks = T;
  time.notes = fit_text("dense", dense_fit) + "\n" + fit_text("fused", fused_fit);
  plot::LinePlot memory = time;
  memory.title = "Peak bytes above the inputs";
  memory.series = {series_of("dense", T, dense_bytes), series_of("fused", T, fused_bytes)};
  memory.y_title = "bytes";
  memory.notes = "";
  Figure figure;
  figure.name = "cost";
  figure.caption =
      "Doubling T quadruples the T x T matrix. Fused attention does the same sums without it: "
      "half the time at least, since it skips the masked half, and memory that grows as T.";
  figure.image = plot::figure(
      plot::arrange({plot::draw_lines(time), plot::draw_lines(memory)}, 2),
      {"What attention costs",
       "one causal head, d = 64, medians, " + std::to_string(num_threads()) + " threads",
       "made by: " + command});
  figure.numbers = table;
  Section section;
  section.id = "cost";
  section.title = "What attention costs";
  section.claim =
      "Every query meets every key: O(T^2 d) operations, and, written down plainly, O(T^2) memory. "
      "Timed, counted and fitted.";
  section.facts = {fit_text("dense", dense_fit), fit_text("fused", fused_fit)};
  section.figures = {figure};
  section.tables = {table, cache_table()};
  section.source =
      text::definition_at("attention/scaled_dot_product.cpp", "scaled_dot_product_attention") +
      "; " + text::definition_at("attention/fused.cpp", "fused_attention") + "; " +
      text::definition_at("attention/kv_cache.cpp", "kv_cache_bytes");
  section.command = command;
  return section;
}

void add_cost(Program& program) {
  struct Options {
    int64_t max_T = 2048;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_section_command(
      program, "cost", "Time and memory of attention as T grows, and the fitted exponents",
      [options](const std::string& line) {
        return cost_section(options->max_T, options->seed, line);
      });
  command.number("--max", options->max_T, "The longest T, from 1024 up", 1024);
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
