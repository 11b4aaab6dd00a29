// lookback order: the mask before softmax, and after it.
#include <cmath>
#include <limits>
#include <memory>

#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

std::string range(const Tensor& sums) {
  return plot::format_number(min(sums).item<double>(), 3) + " to " +
         plot::format_number(max(sums).item<double>(), 3);
}

// Row sums in the lesson's own setting, mask after softmax.
std::string lesson_range(uint64_t seed) {
  const NoGradGuard no_grad;
  Generator generator(seed);
  const Tensor x = randn({4, 8, kWidth}, generator);
  const attention::Head head(kWidth, kHeadWidth, 8, generator);
  const Tensor scores = matmul(head.query.forward(x), transpose(head.key.forward(x), -2, -1)) *
                        (1.0 / std::sqrt(static_cast<double>(kHeadWidth)));
  return range(sum(where(attention::causal_mask(8, 8), softmax(scores, -1), zeros({})), -1));
}

}  // namespace

Section order_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const TextSample sample = load_text(text);
  const int64_t T = sample.size();
  const Tensor scores = head_scores(untrained_head(sample, seed));  // (T, T), scaled, not masked
  const Tensor may = attention::causal_mask(T, T);
  const Tensor never = full({}, -std::numeric_limits<double>::infinity());
  const Tensor before = softmax(where(may, scores, never), -1);
  const Tensor after = where(may, softmax(scores, -1), zeros({}));
  const Tensor sums_before = sum(before, -1);
  const Tensor sums_after = sum(after, -1);

  plot::HeatmapGrid grid;
  grid.panels = {matrix_panel(before, sample.labels, sample.labels, "mask, then softmax",
                              "row sums " + range(sums_before)),
                 matrix_panel(after, sample.labels, sample.labels, "softmax, then mask",
                              "row sums " + range(sums_after))};
  grid.columns = 2;
  plot::Bars bars;
  bars.values = to_doubles(sums_after);
  bars.labels = sample.labels;
  bars.title = "Row sums when the mask comes after softmax";
  bars.x_title = "query";
  bars.y_title = "sum of the row";
  bars.high = 1.05;
  bars.reference = to_doubles(sums_before);
  bars.reference_label = "mask before softmax";
  Figure figure;
  figure.name = "order";
  figure.caption =
      "Zeroing future weights after softmax throws away the mass they had taken: early rows, whose "
      "future is longest, lose most.";
  figure.image =
      plot::figure(plot::arrange({plot::draw_heatmap_grid(grid), plot::draw_bars(bars)}, 1),
                   {"Before or after: where the mask belongs",
                    sample.name + ", T " + std::to_string(T) + ", seed " + std::to_string(seed),
                    "made by: " + command});
  figure.numbers = matrix_table(cat({before, after}, 0));
  figure.hover = {{sample.labels, sample.labels, to_doubles(before)},
                  {sample.labels, sample.labels, to_doubles(after)}};

  Section section;
  section.id = "order";
  section.title = "Mask before softmax, or after?";
  section.claim =
      "Masked before softmax, a row is a distribution over what the query may see. Masked after, "
      "rows keep only part of their mass: the operator is no longer row-stochastic, outputs leave "
      "the convex hull of the values, and the size of the loss tells of the future.";
  section.facts = {
      "row sums, mask first: " + range(sums_before),
      "row sums, softmax first: " + range(sums_after),
      "the lesson's x (4, 8, 32), head of width 16, softmax first: " + lesson_range(seed),
      "theorems that fail: simplex, hull, perturbation (see the mutation lab, 'mask "
      "after softmax')"};
  section.figures = {figure};
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "scores = where(may_attend, scores, never)") +
                   ", the mask, one line above softmax";
  section.command = command;
  return section;
}

void add_order(Program& program) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_section_command(
      program, "order", "Mask before softmax against after: matrices and row sums",
      [options](const std::string& line) {
        return order_section(options->text, options->seed, line);
      });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
