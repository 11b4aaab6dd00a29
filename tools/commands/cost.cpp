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
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/power_fit.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/fixed_threads.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/plot/lines.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

constexpr int64_t kHeadDim = 64;
constexpr int64_t kLongest = 32768;  // dense attention then takes 8 GiB

// Seconds of a run: the median and the quartiles on its two sides.
struct Quartiles {
  double low, median, high;
};

// Of at least 7 runs, and of as many as half a second holds, up to 41: short runs need more of them
// beside other programs' work.
Quartiles seconds_of(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  std::vector<double> samples;
  const Clock::time_point begin = Clock::now();
  while (
      samples.size() < 7 ||
      (samples.size() < 41 && std::chrono::duration<double>(Clock::now() - begin).count() < 0.5)) {
    const Clock::time_point start = Clock::now();
    run();
    samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(samples.begin(), samples.end());
  const size_t quarter = samples.size() / 4;
  return {samples[quarter], samples[samples.size() / 2], samples[samples.size() - 1 - quarter]};
}

std::string number(double value, int digits = 3) { return plot::format_number(value, digits); }

// An interval as wide as the difference of linear and quadratic growth says little.
std::string fit_text(const std::string& name, const PowerFit& f) {
  return name + ": T^" + number(f.exponent) + ", 95 % interval " +
         number(f.exponent - f.half_interval) + " to " + number(f.exponent + f.half_interval) +
         (f.half_interval > 0.5 ? ": the points lie on no line, measure again on an idle machine"
                                : "");
}

// Counts are no samples: they have no interval.
Fact count_fact(const std::string& name, const PowerFit& f) {
  return {name + ": T^" + number(f.exponent) + ", counted", {{name + ", exponent", f.exponent}}};
}

Fact fit_fact(const std::string& name, const PowerFit& f) {
  return {
      fit_text(name, f),
      {{name + ", exponent", f.exponent}, {name + ", half of the 95 % interval", f.half_interval}}};
}

struct Row {
  double T, dense, fused, flops, dense_bytes, fused_bytes;
  Quartiles dense_spread, fused_spread;
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
  Row row{};
  row.T = t;
  row.dense_spread = seconds_of(dense);
  row.fused_spread = seconds_of(fused);
  row.dense = row.dense_spread.median;
  row.fused = row.fused_spread.median;
  row.flops = 4 * t * t * kHeadDim;
  row.dense_bytes = static_cast<double>(peak_bytes(dense));
  row.fused_bytes = static_cast<double>(peak_bytes(fused));
  return row;
}

std::vector<double> column(const std::vector<Row>& rows, double Row::*member) {
  std::vector<double> values;
  for (const Row& row : rows) values.push_back(row.*member);
  return values;
}

// Powers of two and the numbers half way between them, since a fit needs points; then the longest
// itself, and no other close to it.
std::vector<int64_t> lengths(int64_t max_T) {
  std::vector<int64_t> result;
  for (int64_t t = 256; t < max_T; t *= 2) {
    for (const int64_t length : {t, t + t / 2}) {
      if (length + length / 8 < max_T) result.push_back(length);
    }
  }
  result.push_back(max_T);
  return result;
}

constexpr const char* kRounding =
    "The allocator rounds bytes up, by at most a quarter: to four sizes from each power of two to "
    "the next.";

Table time_table(const std::vector<Row>& rows) {
  Table table;
  table.name = "times";
  table.title = std::string("One causal head, d = 64, one thread, medians; FLOPs of the full ") +
                "T x T, of which fused attention skips the masked half. " + kRounding;
  table.header = {"T",           "dense (ms)", "fused (ms)", "FLOPs", "dense GFLOP/s",
                  "dense bytes", "fused bytes"};
  for (const Row& row : rows) {
    table.rows.push_back({number(row.T, 9), number(row.dense * 1e3, 4), number(row.fused * 1e3, 4),
                          number(row.flops, 4), number(row.flops / row.dense * 1e-9, 3),
                          number(row.dense_bytes, 15), number(row.fused_bytes, 15)});
  }
  return table;
}

Table quartile_table(const std::vector<Row>& rows) {
  Table table;
  table.name = "quartiles";
  table.title = "How far the runs lie apart: half of them between these two times (ms)";
  table.header = {"T", "dense, from", "dense, to", "fused, from", "fused, to"};
  for (const Row& row : rows) {
    table.rows.push_back({number(row.T, 9), number(row.dense_spread.low * 1e3, 4),
                          number(row.dense_spread.high * 1e3, 4),
                          number(row.fused_spread.low * 1e3, 4),
                          number(row.fused_spread.high * 1e3, 4)});
  }
  return table;
}

// Everything, with all its digits.
Table measured_table(const std::vector<Row>& rows) {
  Table table;
  table.header = {"T",
                  "dense, first quartile (ms)",
                  "dense, median (ms)",
                  "dense, third quartile (ms)",
                  "fused, first quartile (ms)",
                  "fused, median (ms)",
                  "fused, third quartile (ms)",
                  "FLOPs",
                  "dense GFLOP/s",
                  "dense bytes",
                  "fused bytes"};
  for (const Row& row : rows) {
    table.rows.emplace_back();
    for (const double value :
         {row.T, row.dense_spread.low * 1e3, row.dense * 1e3, row.dense_spread.high * 1e3,
          row.fused_spread.low * 1e3, row.fused * 1e3, row.fused_spread.high * 1e3, row.flops,
          row.flops / row.dense * 1e-9, row.dense_bytes, row.fused_bytes}) {
      table.rows.back().push_back(plot::exact(value));
    }
  }
  return table;
}

plot::Series series_of(const std::string& name, const std::vector<Row>& rows, double Row::*member) {
  return {.name = name, .x = column(rows, &Row::T), .y = column(rows, member)};
}

// An upright line at each T, from quartile to quartile, in the colour of its series: seen where it
// is longer than a point.
plot::Series spread_of(const std::vector<Row>& rows, Quartiles Row::*member, int color) {
  plot::Series bars;
  bars.points = false;
  bars.color = plot::series_color(color);
  for (const Row& row : rows) {
    bars.x.insert(bars.x.end(), {row.T, row.T, row.T});
    bars.y.insert(bars.y.end(), {(row.*member).low, (row.*member).high, std::nan("")});
  }
  return bars;
}

// Predicted and allocated bytes of a cache that grows with the text: keys and values, one layer.
Table cache_table() {
  Table table;
  table.name = "cache";
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

Figure draw(const std::vector<Row>& rows, const PowerFit& dense, const PowerFit& fused,
            const std::string& command) {
  const Row& last = rows.back();
  plot::LinePlot time;
  time.title = "Time of the forward pass";
  time.series = {series_of("dense", rows, &Row::dense), series_of("fused", rows, &Row::fused),
                 spread_of(rows, &Row::dense_spread, 0), spread_of(rows, &Row::fused_spread, 1)};
  time.x_title = "T";
  time.y_title = "seconds";
  time.log_x = time.log_y = true;
  time.x_ticks = column(rows, &Row::T);
  time.notes = fit_text("dense time", dense) + "\n" + fit_text("fused time", fused);
  plot::LinePlot memory = time;
  memory.title = "Peak bytes above the inputs";
  memory.series = {series_of("dense", rows, &Row::dense_bytes),
                   series_of("fused", rows, &Row::fused_bytes)};
  memory.y_title = "bytes";
  memory.notes = "";
  Figure figure;
  figure.name = "cost";
  figure.caption =
      "Doubling T quadruples the T x T matrix. Fused attention never holds it, and skips the "
      "masked "
      "half of its sums: on one thread at T = " +
      number(last.T, 9) + " it took " + number(last.fused / last.dense, 2) +
      " of the dense time and " + number(last.fused_bytes / last.dense_bytes, 2) +
      " of the dense bytes. " + kRounding;
  figure.image = plot::figure(
      plot::arrange({plot::draw_lines(time), plot::draw_lines(memory)}, 1),
      {"What attention costs",
       "one causal head, d = 64, one thread; points: medians, upright lines: the middle "
       "half of the runs",
       "made by: " + command});
  return figure;
}

// Operations grow as T^2 exactly; what time grows by beyond that is lost speed.
Fact rate_fact(const std::vector<Row>& rows) {
  const double first = rows.front().flops / rows.front().dense * 1e-9;
  const double last = rows.back().flops / rows.back().dense * 1e-9;
  const std::string ends = number(first) + " GFLOP/s at T = " + number(rows.front().T, 9) +
                           " and " + number(last) + " at T = " + number(rows.back().T, 9);
  const bool slower = last < first;
  return {"dense operations: T^2, counted; done at " + ends +
              (slower ? ", so that time grows faster than they do" : ""),
          {{"dense GFLOP/s at the shortest T", first}, {"dense GFLOP/s at the longest T", last}}};
}

}  // namespace

Section cost_section(int64_t max_T, uint64_t seed, const std::string& command) {
  const NoGradGuard no_grad;
  // Beside other programs several threads wait for each other, and that is what would be timed.
  const FixedThreads one(1);
  std::vector<Row> rows;
  for (const int64_t t : lengths(max_T)) rows.push_back(measure(t, seed));
  const Row& last = rows.back();
  const auto fit_of = [&rows](double Row::*member) {
    return fit_power(column(rows, &Row::T), column(rows, member));
  };
  const PowerFit dense = fit_of(&Row::dense);
  const PowerFit fused = fit_of(&Row::fused);
  Section section;
  section.id = "cost";
  section.title = "What attention costs";
  section.claim =
      "Every query meets every key: O(T^2 d) operations, and, written down plainly, O(T^2) memory. "
      "Timed, counted and fitted.";
  section.facts = {fit_fact("dense time", dense),
                   fit_fact("fused time", fused),
                   rate_fact(rows),
                   count_fact("dense bytes", fit_of(&Row::dense_bytes)),
                   count_fact("fused bytes", fit_of(&Row::fused_bytes)),
                   {"fused over dense at T = " + number(last.T, 9) + ": time " +
                        number(last.fused / last.dense) + ", bytes " +
                        number(last.fused_bytes / last.dense_bytes),
                    {{"fused over dense, time", last.fused / last.dense},
                     {"fused over dense, bytes", last.fused_bytes / last.dense_bytes}}}};
  section.figures = {draw(rows, dense, fused, command)};
  section.figures[0].numbers = measured_table(rows);
  section.tables = {time_table(rows), quartile_table(rows), cache_table()};
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
  command.number("--max", options->max_T,
                 "The longest T, at which dense attention takes 8 T T bytes", {1024, kLongest});
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
