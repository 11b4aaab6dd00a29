// lookback scale: why scores are divided by sqrt(d_k).
#include <cmath>
#include <memory>

#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/plot/axis.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

constexpr int64_t kSeeds = 5;
const std::vector<int64_t> kWidths = {16, 64, 256};

// Raw scores q k^T of standard normal q and k: (16, 8, 8).
Tensor raw_scores(int64_t d_k, uint64_t seed) {
  Generator generator(seed);
  const Tensor q = randn({16, 8, d_k}, generator);
  const Tensor k = randn({16, 8, d_k}, generator);
  return matmul(q, transpose(k, -2, -1));
}

struct Measured {
  double raw_std, scaled_std, raw_largest, scaled_largest;
};

Measured measure(int64_t d_k, uint64_t seed) {
  const Tensor raw = raw_scores(d_k, seed);
  const Tensor scaled = raw * (1.0 / std::sqrt(static_cast<double>(d_k)));
  const auto deviation = [](const Tensor& s) { return std::sqrt(var(s).item<double>()); };
  const auto largest = [](const Tensor& s) { return max(softmax(s, -1)).item<double>(); };
  return {deviation(raw), deviation(scaled), largest(raw), largest(scaled)};
}

// "4.05 ± 0.12" over the seeds
template <class Get>
std::string spread(const std::vector<Measured>& all, Get get, int digits) {
  double total = 0;
  for (const Measured& m : all) total += get(m);
  const double middle = total / static_cast<double>(all.size());
  double squares = 0;
  for (const Measured& m : all) squares += (get(m) - middle) * (get(m) - middle);
  char text[64];
  std::snprintf(text, sizeof text, "%.*f ± %.*f", digits, middle, digits,
                std::sqrt(squares / static_cast<double>(all.size() - 1)));
  return text;
}

}  // namespace

Section scale_section(uint64_t seed, const std::string& command) {
  Table table;
  table.title = "Means and standard deviations over " + std::to_string(kSeeds) + " seeds";
  table.header = {
      "d_k", "raw std", "sqrt(d_k)", "scaled std", "largest weight, raw", "largest weight, scaled"};
  plot::HeatmapGrid grid;
  grid.columns = static_cast<int>(kWidths.size());
  std::vector<Tensor> drawn;
  std::vector<plot::Heatmap> scaled_panels;
  bool ok = true;
  for (const int64_t d_k : kWidths) {
    std::vector<Measured> all;
    for (int64_t s = 0; s < kSeeds; ++s) {
      all.push_back(measure(d_k, seed + static_cast<uint64_t>(s)));
      const double root = std::sqrt(static_cast<double>(d_k));
      ok = ok && std::abs(all.back().raw_std / root - 1) < 0.15;
    }
    table.rows.push_back({std::to_string(d_k),
                          spread(
                              all, [](const Measured& m) { return m.raw_std; }, 2),
                          plot::format_number(std::sqrt(static_cast<double>(d_k)), 3),
                          spread(
                              all, [](const Measured& m) { return m.scaled_std; }, 2),
                          spread(
                              all, [](const Measured& m) { return m.raw_largest; }, 3),
                          spread(
                              all, [](const Measured& m) { return m.scaled_largest; }, 3)});
    const Tensor raw = select(raw_scores(d_k, seed), 0, 0);
    const Tensor unscaled = softmax(raw, -1);
    const Tensor scaled = softmax(raw * (1.0 / std::sqrt(static_cast<double>(d_k))), -1);
    const std::string width = "d_k = " + std::to_string(d_k);
    grid.panels.push_back(matrix_panel(unscaled, {}, {}, "raw, " + width));
    scaled_panels.push_back(matrix_panel(scaled, {}, {}, "scaled, " + width));
    drawn.push_back(unscaled);
    drawn.push_back(scaled);
  }
  for (plot::Heatmap& panel : scaled_panels) grid.panels.push_back(std::move(panel));
  Figure figure;
  figure.name = "scale";
  figure.caption =
      "Without the scale rows are one-hot already at d_k = 16: softmax is saturated, its Jacobian "
      "diag(p) - p p^T is numerically 0, and no gradient flows.";
  figure.image = plot::figure(plot::draw_heatmap_grid(grid),
                              {"Saturation, and the square root that prevents it",
                               "softmax of q k^T for standard normal q, k (8, d_k); above raw, "
                               "below divided by sqrt(d_k); seed " +
                                   std::to_string(seed),
                               "made by: " + command});
  figure.numbers = matrix_table(cat(drawn, 0));
  for (const size_t i : {size_t{0}, size_t{2}, size_t{4}, size_t{1}, size_t{3}, size_t{5}}) {
    figure.hover.push_back(hover_matrix(drawn[i], {}, {}));
  }
  Section section;
  section.id = "scale";
  section.title = "Why sqrt(d_k)";
  section.claim =
      "For independent entries of mean 0 and variance 1, Var(q.k) = d_k. Raw scores therefore grow "
      "as sqrt(d_k), and softmax of large scores is one-hot. Dividing by sqrt(d_k) keeps their "
      "standard deviation at 1 for every width.";
  section.figures = {figure};
  section.tables = {table};
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;") +
                   ", the scale";
  section.command = command;
  section.ok = ok;
  return section;
}

void add_scale(Program& program) {
  const auto seed = std::make_shared<uint64_t>(1);
  CommandLine command = add_section_command(
      program, "scale", "Score spread and saturation, with and without sqrt(d_k)",
      [seed](const std::string& line) { return scale_section(*seed, line); });
  add_seed_option(command, *seed);
}

}  // namespace lookback::tools
