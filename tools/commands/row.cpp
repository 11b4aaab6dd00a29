// lookback row: the softmax microscope. One query's row, from dot product to weight.
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/plot/csv.h"

namespace lookback::tools {
namespace {

std::string short_number(double value) { return plot::format_number(value, 5); }

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

double entropy(const std::vector<double>& p) {
  double total = 0;
  for (const double x : p) total -= x > 0 ? x * std::log(x) : 0.0;
  return total;
}

// The Frobenius norm of softmax's Jacobian diag(p) - p p^T.
double jacobian_norm(const Tensor& p) {
  const Tensor J = eye(p.numel(), p.dtype()) * p - unsqueeze(p, 1) * unsqueeze(p, 0);
  return std::sqrt(sum(J * J).item<double>());
}

plot::Bars bars_of(const std::vector<double>& p, const TextSample& sample, int64_t query,
                   const std::string& title) {
  plot::Bars bars;
  bars.values = p;
  bars.labels = sample.labels;
  bars.title = title;
  bars.high = 1.0;
  bars.highlight = query;
  bars.highlight_label = "the query itself";
  bars.width = 800;
  return bars;
}

}  // namespace

Section row_section(const TextOptions& text, uint64_t seed, int64_t row,
                    const std::string& command) {
  const TextSample sample = load_text(text);
  const int64_t T = sample.size();
  check_index(row >= -T && row < T, "row", "row ", row, " is out of range for ", T, " tokens");
  const int64_t i = row < 0 ? row + T : row;
  const UntrainedHead model = untrained_head(sample, seed);
  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadWidth));
  const double infinity = std::numeric_limits<double>::infinity();

  const Tensor scaled = select(head_scores(model), 0, i);  // (T)
  const Tensor raw = scaled * (1.0 / scale);               // (T): q . k_j
  const Tensor seen = arange(T) <= static_cast<double>(i);
  const auto masked = [&](const Tensor& s) { return where(seen, s, full({}, -infinity)); };
  const Tensor variable = masked(scaled).clone().set_requires_grad(true);
  const Tensor p = softmax(variable, -1);
  const Tensor p_raw = softmax(masked(raw), -1);
  const double largest = max(masked(scaled)).item<double>();
  const int64_t top = argmax(p).item<int64_t>();
  const Tensor slope = grad(select(p, 0, top), {variable})[0];  // d p_top / d s_j

  const std::vector<double> raw_v = to_doubles(raw);
  const std::vector<double> scaled_v = to_doubles(scaled);
  const std::vector<double> p_v = to_doubles(p);
  const std::vector<double> slope_v = to_doubles(slope);
  Table table;
  table.title = "Query " + std::to_string(i) + ", '" + sample.labels[static_cast<size_t>(i)] + "'";
  table.header = {"key",       "token", "q.k",    "scaled",       "masked",
                  "minus max", "exp",   "weight", "weight (hex)", "d w_top / d score"};
  double total = 0;
  for (int64_t j = 0; j < T; ++j) {
    const auto e = static_cast<size_t>(j);
    const double m = j <= i ? scaled_v[e] : -infinity;
    total += std::exp(m - largest);
    table.rows.push_back({std::to_string(j), sample.labels[e], short_number(raw_v[e]),
                          short_number(scaled_v[e]), short_number(m), short_number(m - largest),
                          short_number(std::exp(m - largest)), plot::exact(p_v[e]), hex(p_v[e]),
                          short_number(slope_v[e])});
  }
  Figure figure;
  figure.name = "row";
  figure.caption =
      "One query's distribution over its keys, with and without division by "
      "sqrt(d_k); keys after the query are masked.";
  figure.image = plot::figure(
      plot::arrange({plot::draw_bars(bars_of(p_v, sample, i, "scaled by 1/sqrt(d_k)")),
                     plot::draw_bars(bars_of(to_doubles(p_raw), sample, i, "not scaled"))},
                    1),
      {"One row under the microscope",
       sample.name + ", query " + std::to_string(i) + " '" + sample.labels[static_cast<size_t>(i)] +
           "', untrained head, seed " + std::to_string(seed),
       "made by: " + command});
  figure.numbers = matrix_table(stack({p.detach(), p_raw}));
  Section section;
  section.id = "row";
  section.title = "The softmax microscope";
  section.claim =
      "One row of attention, step by step: dot products, scale, mask, the maximum that is "
      "subtracted, exponentials, their sum, weights to the last bit, and how the largest weight "
      "responds to each score.";
  section.facts = {"max " + short_number(largest) + ", sum of exponentials " + short_number(total),
                   "entropy " + short_number(entropy(p_v)) + " scaled, " +
                       short_number(entropy(to_doubles(p_raw))) + " not scaled (uniform: " +
                       short_number(std::log(static_cast<double>(i + 1))) + ")",
                   "norm of diag(p) - p p^T: " + short_number(jacobian_norm(p.detach())) +
                       " scaled, " + short_number(jacobian_norm(p_raw)) + " not scaled"};
  section.figures = {figure};
  section.tables = {table};
  section.source = "engine/ops/softmax.cpp, softmax";
  section.command = command;
  return section;
}

void add_row(Program& program) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
    int64_t row = -1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_section_command(
      program, "row", "One query's row, from dot product to weight, in every digit",
      [options](const std::string& line) {
        return row_section(options->text, options->seed, options->row, line);
      });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
  command.number("--row", options->row, "The query; negative: from the end");
}

}  // namespace lookback::tools
