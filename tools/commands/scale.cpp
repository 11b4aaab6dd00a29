// lookback scale: why scores are divided by sqrt(d_k).
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "attention/scaled_dot_product.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

std::string number(double value) { return plot::format_number(value, 3); }

constexpr uint64_t kSeeds = 5;
const std::vector<int64_t> kWidths = {16, 64, 256};

// Standard normal q and k, (16, 8, d_k), and their raw scores q k^T, (16, 8, 8).
struct Scores {
  Tensor q, k, raw;
};

Scores draw_scores(int64_t d_k, uint64_t seed) {
  Generator generator(seed);
  const Tensor q = randn({16, 8, d_k}, generator);
  const Tensor k = randn({16, 8, d_k}, generator);
  return {q, k, matmul(q, transpose(k, -2, -1))};
}

double root(int64_t d_k) { return std::sqrt(static_cast<double>(d_k)); }

struct Measured {
  double raw_std, scaled_std, raw_largest, scaled_largest;
};

Measured measure(int64_t d_k, uint64_t seed) {
  const Tensor raw = draw_scores(d_k, seed).raw;
  const Tensor scaled = raw * (1.0 / root(d_k));
  const auto deviation = [](const Tensor& s) { return std::sqrt(var(s).item<double>()); };
  const auto largest = [](const Tensor& s) { return max(softmax(s, -1)).item<double>(); };
  return {deviation(raw), deviation(scaled), largest(raw), largest(scaled)};
}

double average(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total / static_cast<double>(values.size());
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Mean and standard deviation over the seeds, each a field.
void add_spread(std::vector<std::string>& row, const std::vector<double>& values, int digits) {
  const double middle = average(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  row.push_back(fixed(middle, digits));
  row.push_back(fixed(std::sqrt(squares / static_cast<double>(values.size() - 1)), digits));
}

// One width over all seeds, a value per seed.
struct Width {
  int64_t d_k;
  std::vector<double> raw_std, scaled_std, raw_largest, scaled_largest;
};

Width measure_width(int64_t d_k, uint64_t seed) {
  Width w{d_k, {}, {}, {}, {}};
  for (uint64_t s = 0; s < kSeeds; ++s) {
    const Measured m = measure(d_k, seed + s);
    w.raw_std.push_back(m.raw_std);
    w.scaled_std.push_back(m.scaled_std);
    w.raw_largest.push_back(m.raw_largest);
    w.scaled_largest.push_back(m.scaled_largest);
  }
  return w;
}

Table spread_table(const std::vector<Width>& widths) {
  Table table;
  table.name = "spread";
  table.title = "Means and standard deviations over " + std::to_string(kSeeds) +
                " seeds; largest weight: of all 128 rows of q, k (16, 8, d_k)";
  table.header = {"d_k",
                  "sqrt(d_k)",
                  "raw std",
                  "± raw std",
                  "scaled std",
                  "± scaled std",
                  "largest weight, raw",
                  "± largest weight, raw",
                  "largest weight, scaled",
                  "± largest weight, scaled"};
  for (const Width& w : widths) {
    std::vector<std::string> row = {std::to_string(w.d_k), number(root(w.d_k))};
    add_spread(row, w.raw_std, 2);
    add_spread(row, w.scaled_std, 2);
    add_spread(row, w.raw_largest, 3);
    add_spread(row, w.scaled_largest, 3);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table seed_table(const std::vector<Width>& widths, uint64_t seed) {
  Table table;
  table.name = "seeds";
  table.header = {
      "d_k", "seed", "raw std", "scaled std", "largest weight, raw", "largest weight, scaled"};
  for (const Width& w : widths) {
    for (size_t s = 0; s < w.raw_std.size(); ++s) {
      table.rows.push_back({std::to_string(w.d_k), std::to_string(seed + s),
                            plot::exact(w.raw_std[s]), plot::exact(w.scaled_std[s]),
                            plot::exact(w.raw_largest[s]), plot::exact(w.scaled_largest[s])});
    }
  }
  return table;
}

// What the drawn matrices show, one number per row of each: how heavy its heaviest key is, and how
// far softmax is from flat there (the Frobenius norm of its Jacobian, diag(p) - p p^T).
struct Saturation {
  double weight = 0;
  double jacobian = 0;
};

Saturation saturation(const Tensor& A) {
  const Tensor p = unsqueeze(A, 2);                                     // (8, 8, 1)
  const Tensor J = eye(A.size(1)) * p - p * transpose(p, 1, 2);         // (8, 8, 8)
  const Tensor norms = sqrt(sum(reshape(J * J, {A.size(0), -1}), -1));  // (8)
  return {mean(max(A, 1)).item<double>(), mean(norms).item<double>()};
}

struct Drawn {
  Figure figure;
  std::vector<Fact> facts;
};

Drawn draw(uint64_t seed, const std::string& command) {
  Drawn drawn;
  plot::HeatmapGrid grid;
  grid.columns = static_cast<int>(kWidths.size());
  std::vector<std::pair<std::string, Tensor>> panels;
  std::vector<Saturation> measured;  // raw for each width, then scaled
  for (const bool scaled : {false, true}) {
    for (const int64_t d_k : kWidths) {
      const double factor = scaled ? 1.0 / root(d_k) : 1.0;
      const Tensor A = softmax(select(draw_scores(d_k, seed).raw, 0, 0) * factor, -1);
      const std::string name = (scaled ? "scaled, d_k = " : "raw, d_k = ") + std::to_string(d_k);
      const Saturation s = saturation(A);
      grid.panels.push_back(matrix_panel(A, {}, {}, name));
      drawn.figure.hover.push_back(hover_matrix(A, {}, {}));
      drawn.facts.push_back({name + ": the heaviest key of a row has weight " + number(s.weight) +
                                 ", the Jacobian of its softmax norm " + number(s.jacobian) +
                                 " (means of the drawn rows)",
                             {{name + ", mean largest weight", s.weight},
                              {name + ", mean norm of diag(p) - p p^T", s.jacobian}}});
      panels.emplace_back(name, A);
      measured.push_back(s);
    }
  }
  const size_t last = kWidths.size() - 1;
  const Saturation raw = measured[last];
  const Saturation tamed = measured[2 * last + 1];
  const std::string width = std::to_string(kWidths[last]);
  drawn.figure.name = "scale";
  drawn.figure.caption =
      "Not scaled, the heaviest key of a row holds " + number(measured[0].weight) +
      " on average at d_k = " + std::to_string(kWidths[0]) + " and " + number(raw.weight) +
      " at d_k = " + width + "; scaled, " + number(measured[last + 1].weight) + " and " +
      number(tamed.weight) +
      ". Where one key holds all, the Jacobian diag(p) - p p^T is 0 and no "
      "gradient flows: its norm at d_k = " +
      width + " is " + number(raw.jacobian) + " raw and " + number(tamed.jacobian) + " scaled.";
  drawn.figure.image = plot::figure(plot::draw_heatmap_grid(grid),
                                    {"Saturation, with and without sqrt(d_k)",
                                     "softmax of q k^T for standard normal q, k (8, d_k); above "
                                     "raw, below divided by sqrt(d_k); seed " +
                                         std::to_string(seed),
                                     "made by: " + command});
  drawn.figure.numbers = panel_table(panels);
  return drawn;
}

// Every matrix that is measured, scaled, against the library's.
void compare_weights(Section& section, uint64_t seed) {
  std::vector<Tensor> shown;
  std::vector<Tensor> library;
  for (const int64_t d_k : kWidths) {
    const Scores s = draw_scores(d_k, seed);
    shown.push_back(softmax(s.raw * (1.0 / root(d_k)), -1));
    library.push_back(attention::scaled_dot_product_attention(s.q, s.k, s.k).weights);
  }
  compare_with_library(section, "the softmax of scaled scores", stack(shown),
                       "scaled_dot_product_attention's weights", stack(library));
}

}  // namespace

Section scale_section(uint64_t seed, const std::string& command) {
  Section section;
  std::vector<Width> widths;
  for (const int64_t d_k : kWidths) {
    widths.push_back(measure_width(d_k, seed));
    const double ratio = average(widths.back().raw_std) / root(d_k);
    if (std::abs(ratio - 1) < 0.15) continue;
    section.failures.push_back("d_k = " + std::to_string(d_k) + ": raw std over sqrt(d_k) is " +
                               number(ratio));
  }
  Drawn drawn = draw(seed, command);
  section.id = "scale";
  section.title = "Why sqrt(d_k)";
  section.claim =
      "For independent entries of mean 0 and variance 1, Var(q.k) = d_k. Raw scores therefore grow "
      "as sqrt(d_k), and the larger scores are, the closer softmax comes to one-hot. Dividing by "
      "sqrt(d_k) gives them variance 1 for every width.";
  section.figures = {std::move(drawn.figure)};
  section.facts = std::move(drawn.facts);
  compare_weights(section, seed);
  section.tables = {spread_table(widths)};
  section.data = {seed_table(widths, seed)};
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;") +
                   ", the scale";
  section.command = command;
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
