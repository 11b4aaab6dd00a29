// lookback atlas: what untrained heads look like, over seeds, widths and sizes of the weights.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "attention/masks.h"
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
constexpr double kEven = 0.93;
constexpr double kNear = 0.67;
constexpr double kFirst = 1.5;
constexpr double kTop = 2.0;

// In this order: the first that fits.
std::string name_of(const Family& f) {
  if (f.entropy > kEven) return "near-uniform";
  if (f.distance < kNear) return "diagonal-hugging";
  if (f.first_column > kFirst || f.top_column > kTop) return "column-collapse";
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
  f.name = T > 1 ? name_of(f) : "one token";
  return f;
}

// A head of the grid. Shared: W_k = W_q, as in the Reformer (Kitaev et al. 2020).
struct Setting {
  uint64_t seed;
  int64_t d_k;
  double size;  // what the initial weights are multiplied by
  bool shared;
};

Tensor drawn_head(const TextSample& sample, const Setting& setting) {
  const NoGradGuard no_grad;
  UntrainedHead model = untrained_head(sample, setting.seed, 0, setting.d_k);
  if (setting.shared) model.head->key.weight.copy_(model.head->query.weight);
  for (const Tensor& p : model.head->parameters()) p.copy_(p * setting.size);
  return head_weights(model);
}

std::string number(double value) { return plot::format_number(value, 3); }

std::string fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string projections(bool shared) { return shared ? "W_k = W_q" : "independent"; }

// Three rows of independent W_q and W_k, the weights growing; a fourth where they are one matrix.
std::vector<Setting> drawn_settings(uint64_t seed) {
  std::vector<Setting> settings;
  for (const double size : {1.0, 2.0, 4.0}) {
    settings.push_back({seed, kHeadWidth, size, false});
    settings.push_back({seed + 1, kHeadWidth, size, false});
    settings.push_back({seed + 2, 4, size, false});
    if (size > 1.0) settings.push_back({seed + 3, 64, size, false});
  }
  settings.push_back({seed, kHeadWidth, 0.5, true});
  settings.push_back({seed, kHeadWidth, 1.0, true});
  settings.push_back({seed, kHeadWidth, 2.0, true});
  settings.push_back({seed + 2, 4, 2.0, true});
  return settings;
}

const std::vector<std::string> kFamilies = {"near-uniform", "column-collapse", "diagonal-hugging",
                                            "mixed"};

constexpr int64_t kCensusTokens = 32;
constexpr uint64_t kSeeds = 20;

// How many heads of many seeds and widths fall into each family.
struct Count {
  bool shared;
  double size;
  int64_t heads = 0;
  std::map<std::string, int64_t> families{};
  int64_t of(const std::string& family) const {
    const auto found = families.find(family);
    return found == families.end() ? 0 : found->second;
  }
};

std::vector<Count> census(const TextSample& sample, uint64_t seed) {
  std::vector<Count> counts;
  for (const bool shared : {false, true}) {
    for (const double size : {1.0, 2.0, 4.0}) {
      Count count{shared, size};
      for (const int64_t d_k : {4, 16, 64}) {
        for (uint64_t s = 0; s < kSeeds; ++s, ++count.heads) {
          ++count.families[measure(drawn_head(sample, {seed + s, d_k, size, shared})).name];
        }
      }
      counts.push_back(std::move(count));
    }
  }
  return counts;
}

Table census_table(const std::vector<Count>& counts, const TextSample& sample) {
  Table table;
  table.name = "census";
  table.title = "Census: heads of " + std::to_string(kSeeds) + " seeds and d_k 4, 16, 64, on " +
                std::to_string(sample.size()) + " tokens";
  table.header = {"W_q and W_k", "size of weights", "heads"};
  table.header.insert(table.header.end(), kFamilies.begin(), kFamilies.end());
  for (const Count& count : counts) {
    std::vector<std::string> row = {projections(count.shared), number(count.size),
                                    std::to_string(count.heads)};
    for (const std::string& family : kFamilies) row.push_back(std::to_string(count.of(family)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The census in words: how often the diagonal wins, with two matrices and with one.
std::vector<Fact> census_facts(const std::vector<Count>& counts) {
  std::vector<Fact> facts;
  for (const bool shared : {false, true}) {
    int64_t heads = 0;
    int64_t hugging = 0;
    for (const Count& count : counts) {
      if (count.shared != shared) continue;
      heads += count.heads;
      hugging += count.of("diagonal-hugging");
    }
    const std::string which = "W_q and W_k " + std::string(shared ? "one matrix" : "independent");
    facts.push_back({which + ": " + std::to_string(hugging) + " of " + std::to_string(heads) +
                         " heads hug the diagonal",
                     {{which + ", diagonal-hugging heads", static_cast<double>(hugging)},
                      {which + ", heads", static_cast<double>(heads)}}});
  }
  return facts;
}

// The panels of the figure and their table, filled one by one.
struct Atlas {
  plot::HeatmapGrid grid;
  Figure figure;
  Table table;
  std::vector<std::pair<std::string, Tensor>> drawn;
};

void add_panel(Atlas& atlas, const TextSample& sample, const Tensor& A, const std::string& title,
               std::vector<std::string> row) {
  const Family f = measure(A);
  atlas.grid.panels.push_back(matrix_panel(
      A, sample.labels, sample.labels, title,
      f.name + "\nentropy " + fixed(f.entropy) + ", distance " + fixed(f.distance) +
          ",\nfirst column " + fixed(f.first_column) + ", top column " + fixed(f.top_column)));
  row.insert(row.end(), {f.name, fixed(f.entropy), fixed(f.distance), fixed(f.first_column),
                         fixed(f.top_column)});
  atlas.table.rows.push_back(std::move(row));
  atlas.figure.hover.push_back(hover_matrix(A, sample.labels, sample.labels));
  atlas.drawn.emplace_back(title, A);
}

Atlas filled_atlas(const TextSample& sample, uint64_t seed) {
  Atlas atlas;
  atlas.grid.columns = 4;
  atlas.grid.scale = weight_scale(sample.size());
  atlas.table.name = "families";
  atlas.table.title =
      "Measured families; distance, first and top column are relative to the uniform row; the top "
      "column is sought among those that at least half of the queries see";
  atlas.table.header = {"W_q and W_k", "seed",          "d_k",          "size of weights", "family",
                        "entropy",     "mean distance", "first column", "top column"};
  for (const Setting& s : drawn_settings(seed)) {
    add_panel(
        atlas, sample, drawn_head(sample, s),
        (s.shared ? "W_k = W_q, seed " : "seed ") + std::to_string(s.seed) + ", d_k " +
            std::to_string(s.d_k) + ", weights x" + number(s.size),
        {projections(s.shared), std::to_string(s.seed), std::to_string(s.d_k), number(s.size)});
    if (atlas.drawn.size() == 3) {
      const Tensor may = to(attention::causal_mask(sample.size(), sample.size()), DType::f32);
      add_panel(atlas, sample, may / sum(may, 1, true), "baseline 1/(i+1)",
                {"", "", "", "uniform"});
    }
  }
  return atlas;
}

}  // namespace

Section atlas_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  TextOptions shorter = text;
  if (!shorter.context) shorter.context = std::min<int64_t>(32, load_text(text).size());
  const TextSample sample = load_text(shorter);
  TextOptions start = shorter;  // enough for the census, which draws hundreds of heads
  start.context = std::min(kCensusTokens, sample.size());
  Atlas atlas = filled_atlas(sample, seed);
  Figure& figure = atlas.figure;
  figure.name = "atlas";
  figure.caption =
      "The same text under other random weights, on one colour scale. The first column is heavy "
      "even in the baseline: row i spreads a mass of 1 over i + 1 keys, and key 0 is in every row. "
      "Last row: one matrix for queries and keys.";
  figure.image =
      plot::figure(plot::draw_heatmap_grid(atlas.grid),
                   {"An atlas of untrained heads",
                    "A (T, T) of one head on " + sample.name + ", T " +
                        std::to_string(sample.size()) + "; captions give the measured family",
                    "made by: " + command});
  figure.numbers = panel_table(atlas.drawn);
  Section section;
  section.id = "atlas";
  section.title = "An atlas of untrained heads";
  section.claim =
      "Nothing is trained. Do heads differ all the same? What family does a head belong to, and "
      "does the eye agree with the numbers? With independent random W_q and W_k nothing ties the "
      "question that a token asks to the answer it offers. With one matrix for both, x_i meets "
      "itself at the angle 0. The census counts what comes of it.";
  section.facts = {{"the first that fits: near-uniform, entropy above " + number(kEven) +
                        " of the maximum; diagonal-hugging, mean distance below " + number(kNear) +
                        " of the uniform row's; column-collapse, first column above " +
                        number(kFirst) + " times, or top column above " + number(kTop) +
                        " times, the uniform matrix's; else mixed",
                    {{"near-uniform, entropy above", kEven},
                     {"diagonal-hugging, mean distance below", kNear},
                     {"column-collapse, first column above", kFirst},
                     {"column-collapse, top column above", kTop}}}};
  section.figures.push_back(std::move(figure));
  section.tables = {atlas.table};
  if (sample.size() > 1) {
    const TextSample beginning = load_text(start);
    const std::vector<Count> counts = census(beginning, seed);
    section.tables.push_back(census_table(counts, beginning));
    const std::vector<Fact> counted = census_facts(counts);
    section.facts.insert(section.facts.end(), counted.begin(), counted.end());
  }
  section.source = text::definition_at("tools/commands/atlas.cpp", "measure");
  section.command = command;
  return section;
}

void add_atlas(Program& program) {
  add_text_section_command(program, "atlas", "Untrained heads over seeds, widths and weight sizes",
                           atlas_section);
}

}  // namespace lookback::tools
