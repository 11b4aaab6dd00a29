// lookback row: the softmax microscope. One query's row, from dot product to weight.
#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/row_steps.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/plot/lines.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

std::string short_number(double value) { return plot::format_number(value, 5); }

double entropy(const std::vector<double>& p) {
  double total = 0;
  for (const double x : p) total -= x > 0 ? x * std::log(x) : 0.0;
  return total;
}

plot::Bars bars_of(const Tensor& p, const RowSteps& s, const TextSample& sample,
                   const std::string& title) {
  plot::Bars bars;
  bars.values = to_doubles(p);
  // One scale for both rows.
  bars.high = std::min(1.0, 1.1 * max(maximum(s.weights, s.unscaled)).item<double>());
  bars.labels = sample.labels;
  bars.title = title;
  bars.highlight = s.query;
  bars.highlight_label = "the query itself";
  bars.width = 800;
  bars.height = 130;
  return bars;
}

// (d_k, T): a column per key, summing to its score; keys after the query are masked.
plot::Heatmap term_strip(const RowSteps& s, const TextSample& sample, double width) {
  const Tensor seen = to(arange(sample.size()) <= static_cast<double>(s.query), DType::boolean);
  const Tensor shown = where(seen, transpose(s.terms, 0, 1), zeros({}));
  plot::Heatmap strip = matrix_panel(shown, {}, sample.labels,
                                     "The terms of q.k: column j sums to the score of key j");
  const double most = max(abs(shown)).item<double>();
  strip.row_title = "channel c";
  strip.largest_cell = 14;
  strip.width = width;
  strip.scale.map = plot::ColorMap::red_blue;
  strip.scale.low = -most;
  strip.scale.high = most;
  strip.scale.title = "q_c k_c";
  return strip;
}

plot::Panel draw_curve(const JacobianCurve& curve, const RowSteps& s, double width) {
  plot::LinePlot plot;
  plot.series = {
      {.name = "this row", .x = curve.factors, .y = curve.norms, .points = false},
      {.name = "scaled, c = " + plot::format_number(curve.scale, 3),
       .x = {curve.scale},
       .y = {jacobian_norm(s.weights)},
       .line = false},
      {.name = "not scaled, c = 1", .x = {1.0}, .y = {jacobian_norm(s.unscaled)}, .line = false}};
  plot.title = "How much softmax lets through: the norm of diag(p) - p p^T for scores c q.k";
  plot.x_title = "factor c, logarithmic";
  plot.y_title = "norm";
  plot.log_x = true;
  plot.y_low = 0.0;
  plot.y_high = std::max(0.1, 1.15 * curve.peak);
  plot.width = width;
  plot.height = 160;
  return plot::draw_lines(plot);
}

Fact peak_fact(const JacobianCurve& curve) {
  const std::string of_all =
      curve.peak_factor == curve.factors.front() ? " of all factors drawn, the smallest" : "";
  return {"that norm is largest, " + short_number(curve.peak) + ", for scores " +
              plot::format_number(curve.peak_factor, 3) + " q.k" + of_all +
              " (standard deviation " + short_number(curve.deviation * curve.peak_factor) +
              "), and " + plot::format_number(curve.norms.back(), 2) + " for " +
              plot::format_number(curve.factors.back(), 3) + " q.k",
          {{"factor of the largest norm", curve.peak_factor},
           {"largest norm", curve.peak},
           {"largest factor", curve.factors.back()},
           {"norm at the largest factor", curve.norms.back()}}};
}

Figure row_figure(const RowSteps& s, const JacobianCurve& curve, const TextSample& sample,
                  const std::string& subtitle, const std::string& command) {
  Figure figure;
  figure.name = "row";
  figure.caption =
      "Above, what each channel adds to the score of each key. Below, the distribution that "
      "softmax makes of the scores, with and without division by sqrt(d_k); keys after the query "
      "are masked. Last, the norm of softmax's Jacobian, which is sqrt(n - 1) / n for n equal "
      "weights "
      "and 0 for a single one" +
      (curve.peak > 0 ? "; of the factors drawn, this row's is largest at c = " +
                            plot::format_number(curve.peak_factor, 2) + "."
                      : std::string("."));
  const plot::Panel bars = plot::draw_bars(bars_of(s.weights, s, sample, "scaled by 1/sqrt(d_k)"));
  const plot::CellArea& area = bars.areas.at(0);
  const double width = area.columns * area.cell_width / static_cast<double>(plot::Theme().scale());
  figure.image =
      plot::figure(plot::arrange({plot::draw_heatmap(term_strip(s, sample, width)), bars,
                                  plot::draw_bars(bars_of(s.unscaled, s, sample, "not scaled")),
                                  draw_curve(curve, s, std::max(width, 360.0))},
                                 1),
                   {"One row under the microscope", subtitle, "made by: " + command});
  figure.numbers = all_numbers(s, sample);
  const std::string query = sample.labels[static_cast<size_t>(s.query)];
  figure.hover = {hover_matrix(transpose(s.terms, 0, 1), {}, sample.labels),
                  hover_matrix(s.weights, {query}, sample.labels),
                  hover_matrix(s.unscaled, {query}, sample.labels)};
  figure.hover[0].row_title = "channel";
  figure.hover[1].first_row = figure.hover[2].first_row = s.query;
  return figure;
}

std::vector<Fact> row_facts(const RowSteps& s, const JacobianCurve& curve) {
  const auto keys = static_cast<double>(s.query + 1);
  const double rounding = max(abs(sum(s.terms, 1) - s.raw)).item<double>();
  const double total = sum(s.exponentials).item<double>();
  const double entropies[] = {entropy(to_doubles(s.weights)), entropy(to_doubles(s.unscaled)),
                              std::log(keys)};
  const double largest[] = {max(s.weights).item<double>(), max(s.unscaled).item<double>()};
  const double flat = std::sqrt(keys - 1) / keys;
  const double norms[] = {jacobian_norm(s.weights), jacobian_norm(s.unscaled)};
  std::vector<Fact> facts = {
      {"max " + short_number(s.largest) + ", sum of exponentials " + short_number(total),
       {{"max", s.largest}, {"sum of exponentials", total}}},
      {"entropy " + short_number(entropies[0]) + " scaled, " + short_number(entropies[1]) +
           " not scaled (uniform: " + short_number(entropies[2]) + ")",
       {{"entropy, scaled", entropies[0]},
        {"entropy, not scaled", entropies[1]},
        {"entropy, uniform", entropies[2]}}},
      {"terms summed one by one differ from q.k by at most " + plot::format_number(rounding, 2),
       {{"largest difference", rounding}}},
      {"standard deviation of the scores " + short_number(curve.deviation * curve.scale) +
           " scaled, " + short_number(curve.deviation) + " not scaled; largest weight " +
           short_number(largest[0]) + " and " + short_number(largest[1]),
       {{"standard deviation of the scores, scaled", curve.deviation * curve.scale},
        {"standard deviation of the scores, not scaled", curve.deviation},
        {"largest weight, scaled", largest[0]},
        {"largest weight, not scaled", largest[1]}}},
      {"norm of diag(p) - p p^T: " + short_number(norms[0]) + " scaled, " + short_number(norms[1]) +
           " not scaled, " + short_number(flat) + " for equal weights",
       {{"norm of diag(p) - p p^T, scaled", norms[0]},
        {"norm of diag(p) - p p^T, not scaled", norms[1]},
        {"norm of diag(p) - p p^T, equal weights", flat}}}};
  if (curve.peak > 0) facts.push_back(peak_fact(curve));
  return facts;
}

}  // namespace

Section row_section(const TextOptions& text, uint64_t seed, int64_t row,
                    const std::string& command) {
  const TextSample sample = load_text(text);
  const int64_t i = row_of(row, sample.size());
  const UntrainedHead model = untrained_head(sample, seed);
  const RowSteps s = steps_of(model, i);
  const JacobianCurve curve = curve_of(s);
  Section section;
  section.id = "row";
  section.title = "The softmax microscope";
  section.claim =
      "One row of attention, step by step: the terms of each dot product, their sum, the scale, "
      "the mask, the maximum that is subtracted, exponentials, weights to the last bit, and how "
      "the largest weight responds to each score. Where scores are large, as those of independent "
      "entries of variance 1 are for a wide head (the section on sqrt(d_k)), softmax without the "
      "scale is nearly one-hot and passes no gradient on; where they are small it is nearly flat, "
      "and larger scores may let more through. On which side a row stands, its last panel shows.";
  section.facts = row_facts(s, curve);
  compare_with_library(section, "the row shown", s.weights, "Head::weights()",
                       select(head_weights(model), 0, i));
  section.figures = {row_figure(s, curve, sample,
                                sample.name + ", query " + std::to_string(i) + " '" +
                                    sample.labels[static_cast<size_t>(i)] + "', " +
                                    model_text(sample, seed),
                                command)};
  section.tables = {term_table(s, sample), step_table(s, sample)};
  section.data = {panel_table({{"q", s.q}}), curve_table(curve)};
  section.data[0].name = "query";
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;") +
                   ", q.k; " + text::definition_at("engine/ops/softmax.cpp", "softmax");
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
  command.number("--row", options->row, "The query; negative: from the end",
                 {-kMaxContext, kMaxContext - 1});
}

}  // namespace lookback::tools
