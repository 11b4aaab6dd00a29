#include "tools/commands/heatmap.h"

#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "attention/head.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "nn/embedding.h"
#include "tools/commands/commands.h"
#include "tools/plot/heatmap.h"

namespace lookback::tools {
namespace {

constexpr int64_t kWidth = 32;      // of an embedding
constexpr int64_t kHeadWidth = 16;  // of queries, keys and values

struct UntrainedHead {
  Tensor x;  // (T, kWidth)
  std::unique_ptr<attention::Head> head;
};

UntrainedHead untrained_head(const TextSample& sample, uint64_t seed, int64_t head_index) {
  Generator generator(seed);
  const nn::Embedding token(sample.vocabulary, kWidth, generator);
  const nn::Embedding position(kMaxContext, kWidth, generator);
  UntrainedHead model;
  model.x = token.forward(sample.index) + position.forward(arange(sample.size()));
  for (int64_t h = 0; h <= head_index; ++h) {
    model.head = std::make_unique<attention::Head>(kWidth, kHeadWidth, sample.size(), generator);
  }
  return model;
}

plot::Heatmap panel_of(const Tensor& weights, const TextSample& sample, const std::string& title) {
  plot::Heatmap heatmap;
  heatmap.rows = weights.size(0);
  heatmap.columns = weights.size(1);
  heatmap.values = to_doubles(weights);
  heatmap.row_labels = sample.labels;
  heatmap.column_labels = sample.labels;
  heatmap.title = title;
  return heatmap;
}

std::string shapes(const TextSample& sample) {
  const std::string T = std::to_string(sample.size());
  return "x (1, " + T + ", " + std::to_string(kWidth) + "), d_head " + std::to_string(kHeadWidth) +
         ", A (" + T + ", " + T + ")";
}

Figure finish(const HeatmapOptions& options, const plot::Panel& body, std::string title,
              std::string subtitle) {
  Figure figure;
  figure.image =
      plot::figure(body, {std::move(title), std::move(subtitle), "made by: " + options.command});
  return figure;
}

Figure single(const HeatmapOptions& options, const TextSample& sample) {
  const Tensor weights = head_weights(sample, options.seed, options.head);
  Figure figure = finish(options, plot::draw_heatmap(panel_of(weights, sample, "")),
                         "Causal self-attention on " + sample.name,
                         "untrained head " + std::to_string(options.head) + ", " + shapes(sample) +
                             ", seed " + std::to_string(options.seed));
  figure.name = "heatmap";
  figure.caption = "Each row is a query's distribution over the keys up to itself; it sums to 1.";
  figure.numbers = matrix_table(weights);
  figure.hover = {{sample.labels, sample.labels, to_doubles(weights)}};
  return figure;
}

Figure grid(const HeatmapOptions& options, const TextSample& sample) {
  const bool by_seed = options.grid == Grid::seeds;
  plot::HeatmapGrid grid;
  Figure figure;
  std::vector<Tensor> all;
  std::vector<HoverMatrix> hover;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + (by_seed ? static_cast<uint64_t>(i) : 0);
    const int64_t head = options.head + (by_seed ? 0 : i);
    all.push_back(head_weights(sample, seed, head));
    grid.panels.push_back(
        panel_of(all.back(), sample,
                 by_seed ? "seed " + std::to_string(seed) : "head " + std::to_string(head)));
    hover.push_back({sample.labels, sample.labels, to_doubles(all.back())});
  }
  figure = finish(options, plot::draw_heatmap_grid(grid), "Causal self-attention on " + sample.name,
                  by_seed ? "one untrained head from " + std::to_string(options.count) +
                                " seeds, " + shapes(sample)
                          : std::to_string(options.count) + " untrained heads, " + shapes(sample) +
                                ", seed " + std::to_string(options.seed));
  figure.name = by_seed ? "seeds" : "heads";
  figure.caption = by_seed ? "The same text and head, other random weights: one colour scale."
                           : "Heads that differ by nothing but their random weights.";
  figure.numbers = matrix_table(cat(all, 0));
  figure.hover = std::move(hover);
  return figure;
}

}  // namespace

Tensor head_weights(const TextSample& sample, uint64_t seed, int64_t head_index) {
  const NoGradGuard no_grad;
  UntrainedHead model = untrained_head(sample, seed, head_index);
  model.head->forward(model.x);
  return model.head->weights();  // (T, T)
}

Tensor head_scores(const TextSample& sample, uint64_t seed, int64_t head_index) {
  const NoGradGuard no_grad;
  const UntrainedHead model = untrained_head(sample, seed, head_index);
  const Tensor q = model.head->query.forward(model.x);  // (T, d_head)
  const Tensor k = model.head->key.forward(model.x);    // (T, d_head)
  return matmul(q, transpose(k, 0, 1)) * (1.0 / std::sqrt(static_cast<double>(kHeadWidth)));
}

Figure heatmap_figure(const HeatmapOptions& options) {
  const TextSample sample = load_text(options.text);
  return options.grid == Grid::none ? single(options, sample) : grid(options, sample);
}

Section heatmap_section(const TextOptions& text, uint64_t seed) {
  HeatmapOptions options;
  options.text = text;
  options.seed = seed;
  options.command = "lookback heatmap --seed " + std::to_string(seed);
  if (!text.file.empty()) options.command += " --text " + text.file;
  Section section;
  section.id = "heatmap";
  section.title = "Attention on real text";
  section.claim =
      "Each token asks a question (its query) of itself and of the tokens before it (their keys); "
      "a row shows how its answer is mixed. No weight is trained here, and there is structure "
      "already: the first row can only look at itself, and early columns are seen by every later "
      "query.";
  section.source = "attention/head.cpp, Head::forward_with_weights";
  section.command = options.command + " --out heatmap.png --csv heatmap.csv";
  section.figures.push_back(heatmap_figure(options));
  const std::string base = options.command;
  for (const Grid kind : {Grid::seeds, Grid::heads}) {
    options.grid = kind;
    options.command = base + (kind == Grid::seeds ? " --grid seeds" : " --grid heads");
    section.figures.push_back(heatmap_figure(options));
  }
  return section;
}

void add_heatmap(Program& program) {
  const auto options = std::make_shared<HeatmapOptions>();
  const auto output = std::make_shared<OutputOptions>();
  CLI::App& command =
      add_command(program, "heatmap", "Draw the causal attention of an untrained head on a text",
                  [options, output](Program& p) {
                    options->command = p.command_line;
                    write_figure(heatmap_figure(*options), output->png, output->csv);
                    return 0;
                  });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
  command.add_option("--head", options->head, "Which head drawn from the seed (from 0)")
      ->check(at_least(0));
  command.add_option("--grid", options->grid, "Several panels in one figure: heads or seeds")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Grid>{{"heads", Grid::heads}, {"seeds", Grid::seeds}}));
  command.add_option("--count", options->count, "Panels of a grid")->check(at_least(1));
  command.add_option("--row", options->row, "One query's distribution as bars; -1: the last")
      ->each([options](const std::string&) { options->has_row = true; });
  add_output_options(command, *output);
}

}  // namespace lookback::tools
