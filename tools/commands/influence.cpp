// lookback influence: how much each input moves each output, beside how much it is attended to.
#include <memory>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

// N[i, j] = the Frobenius norm of d out_i / d x_j, by one backward pass per output number.
Tensor influence_norms(UntrainedHead& model) {
  const Tensor x = model.x.detach().set_requires_grad(true);
  const Tensor out = model.head->forward(x);  // (T, d_head)
  const int64_t T = out.size(0);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < T; ++i) {
    Tensor squares = zeros({T});
    for (int64_t c = 0; c < out.size(1); ++c) {
      const Tensor y = select(select(out, 0, i), 0, c);
      const Tensor dx = grad(y, {x}, {}, {.retain_graph = true})[0];  // (T, d)
      squares = squares + sum(dx * dx, 1);
    }
    rows.push_back(sqrt(squares));
  }
  return stack(rows);
}

// What is drawn, each (T, T).
struct Influence {
  Tensor attention;
  Tensor norms;
  Tensor share;       // of a row's norms: rows sum to 1, as those of attention
  Tensor difference;  // |share - attention|
};

Influence measure(const TextSample& sample, uint64_t seed) {
  UntrainedHead model = untrained_head(sample, seed);
  Influence m;
  m.attention = head_weights(model);
  m.norms = influence_norms(model);
  m.share = m.norms / sum(m.norms, 1, true);
  m.difference = abs(m.share - m.attention);
  return m;
}

Figure draw(const Influence& m, const TextSample& sample, uint64_t seed,
            const std::string& command) {
  const auto& labels = sample.labels;
  plot::HeatmapGrid grid;
  grid.columns = 2;
  grid.panels = {
      matrix_panel(m.attention, labels, labels, "attention", "how much query i attends to key j"),
      matrix_panel(m.share, labels, labels, "influence",
                   "norm of d out_i / d x_j, as a share of its row")};
  grid.scale = weight_scale(sample.size());
  grid.scale.title = grid.scale.log ? "share of the row, logarithmic" : "share of the row";
  grid.scale.masked_label = "exactly 0";
  plot::Heatmap apart = matrix_panel(m.difference, labels, labels, "where they disagree",
                                     "|influence - attention|; grey: exactly equal");
  apart.scale.map = plot::ColorMap::viridis;
  apart.scale.title = "difference";
  apart.scale.masked_label = "exactly 0";
  Figure figure;
  figure.name = "influence";
  figure.caption =
      "Attention says where a head looks; the derivative says what moves its output: a key also "
      "moves it by changing every weight of the row. Here the two differ by up to " +
      plot::format_number(max(m.difference).item<double>(), 3) + " of a row's mass.";
  figure.image =
      plot::figure(plot::arrange({plot::draw_heatmap_grid(grid), plot::draw_heatmap(apart)}, 1),
                   {"Attention is not explanation", sample.name + ", " + model_text(sample, seed),
                    "made by: " + command});
  figure.numbers = panel_table({{"attention", m.attention},
                                {"influence, as a share of its row", m.share},
                                {"where they disagree", m.difference},
                                {"norm of d out_i / d x_j", m.norms}});
  figure.hover = {hover_matrix(m.attention, labels, labels), hover_matrix(m.share, labels, labels),
                  hover_matrix(m.difference, labels, labels)};
  return figure;
}

}  // namespace

Section influence_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const TextSample sample = load_text(text);
  const Influence m = measure(sample, seed);
  const double most = max(m.difference).item<double>();
  const double largest_above = max(m.norms - tril(m.norms)).item<double>();
  const bool exact = largest_above == 0.0;
  const auto agreeing = sum(argmax(m.attention, 1) == argmax(m.share, 1)).item<int64_t>();
  Section section;
  section.id = "influence";
  section.title = "Attention is not explanation";
  section.claim =
      "For every pair (i, j): how strongly does input j move output i? Our own backward pass "
      "answers, one derivative at a time, and the picture sets the answer beside the attention "
      "matrix. Above the diagonal causality wants a derivative that is not small but exactly 0.";
  section.facts = {
      {std::string("derivatives above the diagonal: ") + (exact ? "all exactly 0" : "NOT all 0"),
       {{"largest derivative above the diagonal", largest_above}}},
      {"largest disagreement: " + plot::format_number(most, 3), {{"largest disagreement", most}}},
      {"queries whose most attended key is also the most influential: " + std::to_string(agreeing) +
           " of " + std::to_string(sample.size()),
       {{"queries that agree", static_cast<double>(agreeing)},
        {"queries", static_cast<double>(sample.size())}}}};
  section.figures.push_back(draw(m, sample, seed, command));
  section.source = text::definition_at("engine/backward.cpp", "sweep") + "; " +
                   text::definition_at("tools/commands/influence.cpp", "influence_norms");
  section.command = command;
  if (!exact) section.failures = {"a derivative above the diagonal is not 0"};
  return section;
}

void add_influence(Program& program) {
  add_text_section_command(program, "influence",
                           "How much each token moves each output, beside attention",
                           influence_section);
}

}  // namespace lookback::tools
