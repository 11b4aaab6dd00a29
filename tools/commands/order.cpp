// lookback order: the mask before softmax, and after it.
#include <algorithm>
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
#include "tools/fixed_threads.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

double lowest(const Tensor& x) { return min(x).item<double>(); }
double highest(const Tensor& x) { return max(x).item<double>(); }

// "row sums 0.003 to 1", or "all row sums 1 within 1e-07".
std::string describe(const Tensor& sums) {
  const double off = std::max(highest(sums) - 1, 1 - lowest(sums));
  if (off < 1e-5) return "all row sums 1 within " + plot::format_number(off, 2);
  return "row sums " + plot::format_number(lowest(sums), 3) + " to " +
         plot::format_number(highest(sums), 3);
}

Fact row_sums(const std::string& what, const Tensor& sums) {
  return {
      what + ": " + describe(sums),
      {{what + ", smallest row sum", lowest(sums)}, {what + ", largest row sum", highest(sums)}}};
}

// Row sums of standard normal x (4, 8, 32), mask after softmax.
Tensor sums_of_random_x(uint64_t seed) {
  const NoGradGuard no_grad;
  Generator generator(seed);
  const Tensor x = randn({4, 8, kWidth}, generator);
  const attention::Head head(kWidth, kHeadWidth, 8, generator);
  const Tensor scores = matmul(head.query.forward(x), transpose(head.key.forward(x), -2, -1)) *
                        (1.0 / std::sqrt(static_cast<double>(kHeadWidth)));
  return sum(where(attention::causal_mask(8, 8), softmax(scores, -1), zeros({})), -1);
}

// Which theorems of the ledger the bug breaks: the mutation lab's row, run here.
Fact failing_theorems(uint64_t seed) {
  const FixedThreads two(2);  // as the mutation lab
  std::string names;
  int64_t failing = 0;
  for (const Subject& mutant : mutants()) {
    if (mutant.name != "mask after softmax") continue;
    for (const Theorem& theorem : theorems()) {
      if (check_theorem(theorem, mutant, seed).ok) continue;
      names += (failing++ == 0 ? "" : ", ") + theorem.id;
    }
  }
  const auto all = static_cast<int64_t>(theorems().size());
  return {"theorems that fail when the mask comes after softmax: " + std::to_string(failing) +
              " of " + std::to_string(all) + (failing > 0 ? ": " + names : ""),
          {{"theorems that fail", static_cast<double>(failing)},
           {"theorems", static_cast<double>(all)}}};
}

// The mask before softmax and after it, (T, T), and their row sums, (T).
struct Orders {
  Tensor before, after;
  Tensor sums_before, sums_after;
  double early, late;  // means of sums_after: the first half of the rows, the last
};

Orders measure(const UntrainedHead& model) {
  const int64_t T = model.x.size(0);
  const Tensor scores = head_scores(model);  // (T, T), scaled, not masked
  const Tensor may = attention::causal_mask(T, T);
  const Tensor never = full({}, -std::numeric_limits<double>::infinity());
  Orders m;
  m.before = softmax(where(may, scores, never), -1);
  m.after = where(may, softmax(scores, -1), zeros({}));
  m.sums_before = sum(m.before, -1);
  m.sums_after = sum(m.after, -1);
  const int64_t half = (T + 1) / 2;
  m.early = mean(narrow(m.sums_after, 0, 0, half)).item<double>();
  m.late = mean(narrow(m.sums_after, 0, T - half, half)).item<double>();
  return m;
}

Figure draw(const Orders& m, const TextSample& sample, uint64_t seed, const std::string& command) {
  const auto& labels = sample.labels;
  plot::HeatmapGrid grid;
  grid.panels = {
      matrix_panel(m.before, labels, labels, "mask, then softmax", describe(m.sums_before)),
      matrix_panel(m.after, labels, labels, "softmax, then mask", describe(m.sums_after))};
  grid.columns = 2;
  grid.scale = weight_scale(sample.size());
  plot::Bars bars;
  bars.values = to_doubles(m.sums_after);
  bars.labels = labels;
  bars.title = "Row sums when the mask comes after softmax";
  bars.x_title = "query";
  bars.y_title = "sum of the row";
  bars.high = 1.05;
  bars.reference = to_doubles(m.sums_before);
  bars.reference_label = "mask before softmax";
  Figure figure;
  figure.name = "order";
  figure.caption =
      "Zeroing future weights after softmax throws away the mass that they had taken. Of a row's "
      "mass of 1, the first half of the rows keeps " +
      plot::format_number(m.early, 3) + " on average, the last half " +
      plot::format_number(m.late, 3) + ".";
  figure.image =
      plot::figure(plot::arrange({plot::draw_heatmap_grid(grid), plot::draw_bars(bars)}, 1),
                   {"Before or after: where the mask belongs",
                    sample.name + ", " + model_text(sample, seed), "made by: " + command});
  figure.numbers = panel_table({{"mask, then softmax", m.before},
                                {"softmax, then mask", m.after},
                                {"row sums, mask, then softmax", m.sums_before},
                                {"row sums, softmax, then mask", m.sums_after}});
  figure.hover = {hover_matrix(m.before, labels, labels), hover_matrix(m.after, labels, labels)};
  return figure;
}

}  // namespace

Section order_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const TextSample sample = load_text(text);
  const UntrainedHead model = untrained_head(sample, seed);
  const Orders m = measure(model);
  Section section;
  section.id = "order";
  section.title = "Mask before softmax, or after?";
  section.claim =
      "Masked before softmax, a row is a distribution over what the query may see. Masked after, "
      "a row keeps only the mass it had left for what it may see: the operator is no longer "
      "row-stochastic, and the size of the loss tells of the future.";
  section.facts = {
      row_sums("mask first", m.sums_before),
      row_sums("softmax first", m.sums_after),
      row_sums("random x (4, 8, 32), head of width 16, softmax first", sums_of_random_x(seed)),
      {"mean mass kept by the first and the last half of the rows, softmax first: " +
           plot::format_number(m.early, 3) + " and " + plot::format_number(m.late, 3),
       {{"mean mass kept, first half", m.early}, {"mean mass kept, last half", m.late}}},
      failing_theorems(seed)};
  compare_with_library(section, "the matrix with the mask first", m.before, "Head::weights()",
                       head_weights(model));
  section.figures.push_back(draw(m, sample, seed, command));
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "scores = where(may_attend, scores, never)") +
                   ", the mask, one line above softmax";
  section.command = command;
  return section;
}

void add_order(Program& program) {
  add_text_section_command(
      program, "order", "Mask before softmax against after: matrices and row sums", order_section);
}

}  // namespace lookback::tools
