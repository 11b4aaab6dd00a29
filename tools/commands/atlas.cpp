// lookback atlas: what untrained heads look like, over seeds, widths and sizes of the weights.
#include <cmath>
#include <memory>

#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/report/panels.h"

namespace lookback::tools {
namespace {

// Averages over queries i >= 1 (query 0 has no choice).
struct Family {
  double entropy;       // over log(i + 1): 1 is uniform, 0 one-hot
  double distance;      // mean of i - j, over that of the uniform row
  double first_column;  // mass of key 0, over that of the uniform row
  double top_column;    // the largest mean mass of a column, over that of the uniform matrix
  std::string name;
};

// Named by measured numbers: a row of entropy above 0.93 of the maximum can hardly be told from
// uniform; a third more or less than uniform is seen by eye.
std::string name_of(const Family& f) {
  if (f.entropy > 0.93) return "near-uniform";
  if (f.distance < 0.67) return "diagonal-hugging";
  if (f.first_column > 1.5 || f.top_column > 2.0) return "column-collapse";
  return "mixed";
}

Family measure(const Tensor& weights) {
  const int64_t T = weights.size(0);
  const std::vector<double> A = to_doubles(weights);
  Family f{0, 0, 0, 0, ""};
  std::vector<double> column(static_cast<size_t>(T), 0.0);
  std::vector<double> uniform(static_cast<size_t>(T), 0.0);
  const double rows = static_cast<double>(std::max<int64_t>(1, T - 1));
  for (int64_t i = 1; i < T; ++i) {
    const auto n = static_cast<double>(i + 1);
    for (int64_t j = 0; j <= i; ++j) {
      const double p = A[static_cast<size_t>(i * T + j)];
      if (p > 0) f.entropy -= p * std::log(p) / std::log(n) / rows;
      f.distance += p * static_cast<double>(i - j) / (static_cast<double>(i) / 2) / rows;
      column[static_cast<size_t>(j)] += p;
      uniform[static_cast<size_t>(j)] += 1 / n;
    }
    f.first_column += A[static_cast<size_t>(i * T)] * n / rows;
  }
  // Late columns are seen by few queries: only those that half of the queries see are compared.
  for (int64_t j = 0; j < (T + 1) / 2; ++j) {
    const auto c = static_cast<size_t>(j);
    if (uniform[c] > 0) f.top_column = std::max(f.top_column, column[c] / uniform[c]);
  }
  f.name = name_of(f);
  return f;
}

Tensor scaled_head(const TextSample& sample, uint64_t seed, int64_t d_head, double size) {
  UntrainedHead model = untrained_head(sample, seed, 0, d_head);
  const NoGradGuard no_grad;
  for (const Tensor& p : model.head->parameters()) p.copy_(p * size);
  return head_weights(model);
}

std::string number(double value) { return plot::format_number(value, 2); }

}  // namespace

Section atlas_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  TextOptions shorter = text;
  if (!shorter.context) shorter.context = std::min<int64_t>(32, load_text(text).size());
  const TextSample sample = load_text(shorter);
  const int64_t T = sample.size();
  const auto& labels = sample.labels;

  plot::HeatmapGrid grid;
  grid.columns = 4;
  Figure figure;
  Table table;
  table.title = "Measured families; distance, first and top column are relative to the uniform row";
  table.header = {"seed",    "d_k",           "size of weights", "family",
                  "entropy", "mean distance", "first column",    "top column"};
  std::vector<Tensor> drawn;
  const auto add = [&](const Tensor& A, const std::string& title, std::vector<std::string> row) {
    const Family f = measure(A);
    grid.panels.push_back(matrix_panel(A, labels, labels, title,
                                       f.name + "\nentropy " + number(f.entropy) + ", distance " +
                                           number(f.distance) + ", first column " +
                                           number(f.first_column)));
    row.insert(row.end(), {f.name, number(f.entropy), number(f.distance), number(f.first_column),
                           number(f.top_column)});
    table.rows.push_back(std::move(row));
    figure.hover.push_back(hover_matrix(A, labels, labels));
    drawn.push_back(A);
  };
  for (const double size : {1.0, 2.0, 4.0}) {
    for (uint64_t s = seed; s < seed + 3; ++s) {
      const int64_t d_k = s == seed + 2 ? 4 : kHeadWidth;
      add(scaled_head(sample, s, d_k, size),
          "seed " + std::to_string(s) + ", d_k " + std::to_string(d_k) + ", weights x" +
              number(size),
          {std::to_string(s), std::to_string(d_k), number(size)});
    }
    if (size == 1.0) {
      const Tensor may = to(attention::causal_mask(T, T), DType::f32);
      add(may / sum(may, 1, true), "the baseline: 1 / (i + 1)", {"", "", "uniform"});
    } else {
      add(scaled_head(sample, seed + 3, 64, size),
          "seed " + std::to_string(seed + 3) + ", d_k 64, weights x" + number(size),
          {std::to_string(seed + 3), "64", number(size)});
    }
  }
  figure.name = "atlas";
  figure.caption =
      "The same text under other random weights, on one colour scale. Larger weights sharpen rows; "
      "then columns of popular keys appear. The first column is heavy even in the baseline: row i "
      "spreads a mass of 1 over i + 1 keys, and key 0 is in every row.";
  figure.image = plot::figure(
      plot::draw_heatmap_grid(grid),
      {"An atlas of untrained heads",
       sample.name + ", T " + std::to_string(T) + "; captions give the measured family",
       "made by: " + command});
  figure.numbers = matrix_table(cat(drawn, 0));
  Section section;
  section.id = "atlas";
  section.title = "An atlas of untrained heads";
  section.claim =
      "Nothing is trained, and heads differ all the same. What family does a head belong to, and "
      "does the eye agree with the numbers?";
  section.figures = {figure};
  section.tables = {table};
  section.source = "tools/commands/atlas.cpp, measure";
  section.command = command;
  return section;
}

void add_atlas(Program& program) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command =
      add_section_command(program, "atlas", "Untrained heads over seeds, widths and weight sizes",
                          [options](const std::string& line) {
                            return atlas_section(options->text, options->seed, line);
                          });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
