// lookback atlas: what untrained heads look like, over seeds, widths and sizes of the weights.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "attention/masks.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/families.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

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
  std::snprintf(text, sizeof text, "%.2f", std::abs(value) < 0.005 ? 0.0 : value);
  return text;
}

std::string projections(bool shared) { return shared ? "W_k = W_q" : "independent"; }

// Three rows of independent W_q and W_k, the weights growing; a fourth where they are one matrix.
std::vector<Setting> drawn_settings(uint64_t seed) {
  std::vector<Setting> settings;
  for (const double size : {1.0, 2.0, 4.0}) {
    settings.push_back({seed, kHeadWidth, size, false});
    settings.push_back({seed + 1, kHeadWidth, size, false});
    settings.push_back({seed + 3, 1, size, false});
    if (size > 1.0) settings.push_back({seed + 2, 64, size, false});
  }
  settings.push_back({seed, kHeadWidth, 0.5, true});
  settings.push_back({seed, kHeadWidth, 1.0, true});
  settings.push_back({seed, kHeadWidth, 2.0, true});
  settings.push_back({seed + 2, 4, 2.0, true});
  return settings;
}

const std::vector<std::string> kFamilies = {"near-uniform", "column-collapse", "diagonal-hugging",
                                            "none of these"};

constexpr int64_t kAtlasTokens = 32;  // drawn, if --context does not say otherwise, and counted
constexpr uint64_t kSeeds = 20;
constexpr int64_t kControls = 200;

// How many matrices of one kind fall into each family.
struct Count {
  std::string what;  // of controls: what they are; of heads: their projections
  bool head = false;
  Setting setting{};  // of heads, but for the seed
  int64_t matrices = 0;
  std::map<std::string, int64_t> families{};

  void take(const Tensor& weights) {
    ++matrices;
    ++families[family_of(weights).name];
  }
  int64_t of(const std::string& family) const {
    const auto found = families.find(family);
    return found == families.end() ? 0 : found->second;
  }
};

std::vector<Count> census(const TextSample& sample, uint64_t seed) {
  std::vector<Count> counts;
  for (const bool shared : {false, true}) {
    for (const int64_t d_k : {1, 16, 64}) {
      for (const double size : {1.0, 2.0, 4.0}) {
        Count count{projections(shared), true, {seed, d_k, size, shared}};
        for (uint64_t s = 0; s < kSeeds; ++s) {
          count.take(drawn_head(sample, {seed + s, d_k, size, shared}));
        }
        counts.push_back(std::move(count));
      }
    }
  }
  return counts;
}

// What the rule says of matrices that have no family: independent rows.
std::vector<Count> controls(int64_t T, uint64_t seed) {
  const NoGradGuard no_grad;
  Generator generator(seed);
  const Tensor may = attention::causal_mask(T, T);
  const Tensor never = full({}, -std::numeric_limits<double>::infinity());
  std::vector<Count> counts = {{"independent one-hot rows"},
                               {"independent rows, softmax(4 N(0, 1))"}};
  for (int64_t n = 0; n < kControls; ++n) {
    const Tensor scores = randn({T, T}, generator);
    counts[0].take(softmax(where(may, scores * 1e6, never), -1));
    counts[1].take(softmax(where(may, scores * 4, never), -1));
  }
  return counts;
}

Table census_table(const std::vector<Count>& counts, int64_t T) {
  Table table;
  table.name = "census";
  table.title = "Census: heads of " + std::to_string(kSeeds) + " seeds on " + std::to_string(T) +
                " tokens, and " + std::to_string(kControls) +
                " controls of each kind, whose rows are independent and have no family";
  table.header = {"W_q and W_k", "d_k", "size of weights", "matrices"};
  table.header.insert(table.header.end(), kFamilies.begin(), kFamilies.end());
  for (const Count& count : counts) {
    std::vector<std::string> row = {count.what, count.head ? std::to_string(count.setting.d_k) : "",
                                    count.head ? number(count.setting.size) : "",
                                    std::to_string(count.matrices)};
    for (const std::string& family : kFamilies) row.push_back(std::to_string(count.of(family)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// "W_k = W_q: 152 of 180 heads are diagonal-hugging", over the counts that `which` takes.
template <class Which>
Fact counted(const std::string& what, const std::string& things,
             const std::vector<std::string>& families, const std::vector<Count>& counts,
             const Which& which) {
  int64_t matrices = 0;
  int64_t found = 0;
  for (const Count& count : counts) {
    if (!which(count)) continue;
    matrices += count.matrices;
    for (const std::string& family : families) found += count.of(family);
  }
  std::string names;
  for (const std::string& family : families) names += (names.empty() ? "" : " or ") + family;
  return {what + ": " + std::to_string(found) + " of " + std::to_string(matrices) + " " + things +
              " are " + names,
          {{what + ", " + names, static_cast<double>(found)},
           {what + ", " + things, static_cast<double>(matrices)}}};
}

std::vector<Fact> census_facts(const std::vector<Count>& counts) {
  const std::vector<std::string> placed = {"column-collapse", "diagonal-hugging"};
  return {counted("independent rows", "controls", placed, counts,
                  [](const Count& c) { return !c.head; }),
          counted("W_q and W_k independent, d_k 16 or 64", "heads", placed, counts,
                  [](const Count& c) { return c.head && !c.setting.shared && c.setting.d_k > 1; }),
          counted("W_q and W_k independent, d_k 1", "heads", {"column-collapse"}, counts,
                  [](const Count& c) { return c.head && !c.setting.shared && c.setting.d_k == 1; }),
          counted("W_q and W_k one matrix, d_k 16 or 64", "heads", {"diagonal-hugging"}, counts,
                  [](const Count& c) { return c.head && c.setting.shared && c.setting.d_k > 1; })};
}

std::vector<Fact> rule() {
  const std::string copies = std::to_string(kTurnedCopies) +
                             " copies whose rows are each turned by a random number of keys";
  return {{"diagonal-hugging: the mean distance from query to key is below " +
               number(kShortDistance) + " of the evenly spread row's, and below that of " + copies,
           {{"diagonal-hugging, mean distance below", kShortDistance}}},
          {"near-uniform: else, rows make use of more than half of their keys: their spread (from "
           "the perplexity; 0 one key, 1 all alike) is above " +
               number(kEvenSpread),
           {{"near-uniform, spread above", kEvenSpread}}},
          {"column-collapse: else, many queries put their mass on the same keys: their agreement "
           "(0 as of independent rows, 1 all that rows so sharp can) is above " +
               number(kStrongAgreement) + ", and above that of the turned copies",
           {{"column-collapse, agreement above", kStrongAgreement}}}};
}

// The panels of the figure and their table, filled one by one.
struct Atlas {
  plot::HeatmapGrid grid;
  Figure figure;
  Table table;
  std::vector<std::pair<std::string, Tensor>> drawn;
};

void add_panel(Atlas& atlas, const TextSample& sample, const Tensor& A, const std::string& first,
               const std::string& second, std::vector<std::string> row) {
  const Family f = family_of(A);
  const std::string caption = f.name + "\ndistance " + fixed(f.distance) + ", spread " +
                              fixed(f.spread) + "\nagreement " + fixed(f.agreement) + ", entropy " +
                              fixed(f.entropy) + "\nfirst column " + fixed(f.first_column);
  atlas.grid.panels.push_back(
      matrix_panel(A, sample.labels, sample.labels, first + "\n" + second, caption));
  row.insert(row.end(), {f.name, fixed(f.distance), fixed(f.spread), fixed(f.agreement),
                         fixed(f.entropy), fixed(f.first_column)});
  atlas.table.rows.push_back(std::move(row));
  atlas.figure.hover.push_back(hover_matrix(A, sample.labels, sample.labels));
  atlas.drawn.emplace_back(first + ", " + second, A);
}

Atlas filled_atlas(const TextSample& sample, uint64_t seed) {
  Atlas atlas;
  atlas.grid.columns = 4;
  atlas.grid.scale = weight_scale(sample.size());
  atlas.grid.scale.masked_label = "exactly 0";
  if (!atlas.grid.scale.log) atlas.grid.scale.title = "attention weight, linear";
  atlas.table.name = "families";
  atlas.table.title =
      "Measured families; distance and first column are relative to the evenly spread row, entropy "
      "to its entropy";
  atlas.table.header = {"W_q and W_k",   "seed",   "d_k",       "size of weights", "family",
                        "mean distance", "spread", "agreement", "entropy",         "first column"};
  for (const Setting& s : drawn_settings(seed)) {
    add_panel(
        atlas, sample, drawn_head(sample, s),
        (s.shared ? "W_k = W_q, weights x" : "weights x") + number(s.size),
        "d_k " + std::to_string(s.d_k) + ", seed " + std::to_string(s.seed),
        {projections(s.shared), std::to_string(s.seed), std::to_string(s.d_k), number(s.size)});
    if (atlas.drawn.size() == 3) {
      add_panel(atlas, sample, uniform_weights(sample.size()), "baseline", "1/(i+1)",
                {"", "", "", "uniform"});
    }
  }
  return atlas;
}

void finish_figure(Atlas& atlas, const TextSample& sample, const std::string& command) {
  Figure& figure = atlas.figure;
  const std::string T = std::to_string(sample.size());
  figure.name = "atlas";
  figure.caption =
      "The same text under other random weights, on one colour scale. The first column is heavy "
      "even in the baseline: row i spreads a mass of 1 over i + 1 keys, and key 0 is in every row. "
      "Last row: one matrix for queries and keys. " +
      (atlas.grid.scale.log
           ? "Colours are logarithmic: at " + T + " tokens an evenly spread row would be white."
           : std::string("Colours are linear, other than in pictures of longer texts: a family is "
                         "a matter of where mass lies, and half the mass has half the colour."));
  figure.image = plot::figure(plot::draw_heatmap_grid(atlas.grid),
                              {"An atlas of untrained heads",
                               "A (T, T) of one head on " + sample.name + ", T " + T +
                                   "; captions give the measured family",
                               "made by: " + command});
  figure.numbers = panel_table(atlas.drawn);
}

}  // namespace

Section atlas_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  TextOptions shorter = text;
  if (!shorter.context) shorter.context = std::min(kAtlasTokens, load_text(text).size());
  const TextSample sample = load_text(shorter);
  TextOptions start = shorter;  // enough for the census, which draws hundreds of heads
  start.context = std::min(kAtlasTokens, sample.size());
  Atlas atlas = filled_atlas(sample, seed);
  finish_figure(atlas, sample, command);
  Section section;
  section.id = "atlas";
  section.title = "An atlas of untrained heads";
  section.claim =
      "Nothing is trained. Do heads differ all the same, and from chance? A sharp row must put its "
      "mass somewhere; a family is more than that. So each head is compared with copies of itself "
      "whose rows are turned at random. With independent W_q and W_k nothing ties the question "
      "that a token asks to the answer it offers, unless the head is so narrow, or the tokens so "
      "alike, that all queries ask alike. With one matrix for both, x_i meets itself at the angle "
      "0.";
  section.facts = rule();
  section.figures.push_back(std::move(atlas.figure));
  section.tables = {atlas.table};
  if (sample.size() > 1) {
    const TextSample beginning = load_text(start);
    std::vector<Count> counts = census(beginning, seed);
    for (Count& control : controls(beginning.size(), seed)) counts.push_back(std::move(control));
    section.tables.push_back(census_table(counts, beginning.size()));
    const std::vector<Fact> counted = census_facts(counts);
    section.facts.insert(section.facts.end(), counted.begin(), counted.end());
  }
  section.source = text::definition_at("tools/commands/families.cpp", "family_of");
  section.command = command;
  return section;
}

void add_atlas(Program& program) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  const CommandLine command =
      add_section_command(program, "atlas", "Untrained heads over seeds, widths and weight sizes",
                          [options](const std::string& line) {
                            return atlas_section(options->text, options->seed, line);
                          });
  add_text_options(command, options->text, kAtlasTokens);
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
