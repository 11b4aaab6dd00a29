// One head, several, or one row of a head, as a Figure each; and the lab's Section of them.
#include "tools/commands/heatmap.h"

#include <memory>
#include <stdexcept>

#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/untrained.h"
#include "tools/plot/bars.h"
#include "tools/program.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

// Of a grid: 16 panels at the longest context. Picture, labels and table take 64 bytes for each.
constexpr int64_t kMostNumbers = 16 * kMaxContext * kMaxContext;

Figure finish(const HeatmapOptions& options, const plot::Panel& body, std::string title,
              std::string subtitle) {
  Figure figure;
  figure.command = options.command;
  figure.image =
      plot::figure(body, {std::move(title), std::move(subtitle), "made by: " + options.command});
  return figure;
}

Figure single(const HeatmapOptions& options, const TextSample& sample) {
  const Tensor weights = head_weights(untrained_head(sample, options.seed, options.head));
  plot::Heatmap panel = matrix_panel(weights, sample.labels, sample.labels);
  panel.scale = weight_scale(sample.size());
  Figure figure =
      finish(options, plot::draw_heatmap(panel), "Causal self-attention on " + sample.name,
             model_text(sample, options.seed, options.head));
  figure.name = "heatmap";
  figure.caption = "Each row is a query's distribution over the keys up to itself; it sums to 1.";
  figure.numbers = matrix_table(weights);
  figure.hover = {hover_matrix(weights, sample.labels, sample.labels)};
  return figure;
}

Figure grid(const HeatmapOptions& options, const TextSample& sample) {
  const int64_t numbers = options.count * sample.size() * sample.size();
  if (numbers > kMostNumbers) {
    throw UsageError("a grid may hold " + std::to_string(kMostNumbers) + " numbers; got --count " +
                     std::to_string(options.count) + " and --context " +
                     std::to_string(sample.size()) + ", which make " + std::to_string(numbers));
  }
  const bool by_seed = options.grid == Grid::seeds;
  plot::HeatmapGrid grid;
  grid.scale = weight_scale(sample.size());
  std::vector<std::pair<std::string, Tensor>> all;
  std::vector<HoverMatrix> hover;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + (by_seed ? static_cast<uint64_t>(i) : 0);
    const int64_t head = options.head + (by_seed ? 0 : i);
    const std::string name =
        by_seed ? "seed " + std::to_string(seed) : "head " + std::to_string(head);
    const Tensor weights = head_weights(untrained_head(sample, seed, head));
    grid.panels.push_back(matrix_panel(weights, sample.labels, sample.labels, name));
    hover.push_back(hover_matrix(weights, sample.labels, sample.labels));
    all.emplace_back(name, weights);
  }
  Figure figure =
      finish(options, plot::draw_heatmap_grid(grid), "Causal self-attention on " + sample.name,
             by_seed ? "one untrained head from " + std::to_string(options.count) + " seeds, " +
                           shapes_text(sample)
                     : std::to_string(options.count) + " untrained heads, " + shapes_text(sample) +
                           ", seed " + std::to_string(options.seed));
  figure.name = by_seed ? "seeds" : "heads";
  figure.caption = by_seed ? "The same text and head, other random weights: one colour scale."
                           : "Heads that differ by nothing but their random weights.";
  figure.numbers = panel_table(all);
  figure.hover = std::move(hover);
  return figure;
}

Figure row_strip(const HeatmapOptions& options, const TextSample& sample, int64_t row) {
  const int64_t i = row_of(row, sample.size());
  const Tensor weights =
      select(head_weights(untrained_head(sample, options.seed, options.head)), 0, i);
  plot::Bars bars;
  bars.values = to_doubles(weights);
  bars.labels = sample.labels;
  bars.highlight = i;
  bars.highlight_label = "the query itself";
  bars.width = 800;
  Figure figure = finish(options, plot::draw_bars(bars),
                         "What query " + std::to_string(i) + " '" +
                             sample.labels[static_cast<size_t>(i)] + "' attends to",
                         sample.name + ", " + model_text(sample, options.seed, options.head));
  figure.name = "heatmap-row";
  figure.caption =
      "One row of the matrix, query " + std::to_string(i) + ": its distribution over the keys.";
  figure.numbers = matrix_table(weights);
  figure.hover = {hover_matrix(weights, {sample.labels[static_cast<size_t>(i)]}, sample.labels)};
  figure.hover[0].first_row = i;
  return figure;
}

}  // namespace

Figure heatmap_figure(const HeatmapOptions& options) {
  const TextSample sample = load_text(options.text);
  if (options.row) return row_strip(options, sample, *options.row);
  return options.grid == Grid::none ? single(options, sample) : grid(options, sample);
}

Section heatmap_section(const TextOptions& text, uint64_t seed, const std::string& arguments) {
  HeatmapOptions options;
  options.text = text;
  options.seed = seed;
  Section section;
  section.id = "heatmap";
  section.title = "Attention on real text";
  section.claim =
      "Each token asks a question (its query) of itself and of the tokens before it (their keys); "
      "a row shows how its answer is mixed. No weight is trained here, and there is structure "
      "already: the first row can only look at itself, and early columns are seen by every later "
      "query.";
  section.source = text::definition_at("attention/head.cpp", "Head::forward") + "; " +
                   text::definition_at("attention/head.cpp", "Head::weights");
  const auto add = [&](const std::string& extra, const std::string& name) {
    options.command = "lookback heatmap" + extra + " --out " + name + ".png" + arguments;
    section.figures.push_back(heatmap_figure(options));
  };
  add("", "heatmap");
  section.command = options.command;
  options.grid = Grid::seeds;
  add(" --grid seeds", "seeds");
  options.grid = Grid::heads;
  add(" --grid heads", "heads");
  options.grid = Grid::none;
  options.row = -1;
  add(" --row -1", "heatmap-row");
  return section;
}

void add_heatmap(Program& program) {
  const auto options = std::make_shared<HeatmapOptions>();
  const auto output = std::make_shared<OutputOptions>();
  CommandLine command =
      add_command(program, "heatmap", "Draw the causal attention of an untrained head on a text",
                  [options, output](Program& p) {
                    options->command = p.command_line;
                    write_figure(heatmap_figure(*options), output->png, output->csv);
                    return 0;
                  });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
  command.number("--head", options->head, "Which head drawn from the seed", {0, 1023},
                 Default::hidden);
  command.choice<Grid>("--grid", options->grid, "Several panels in one figure: heads or seeds",
                       {{"heads", Grid::heads}, {"seeds", Grid::seeds}});
  command.number("--count", options->count, "Panels of a grid", {1, 64}, Default::hidden);
  command.needs("--count", "--grid");
  command.number("--row", options->row, "One query's distribution as bars; -1: the last",
                 {-kMaxContext, kMaxContext - 1});
  command.exclusive("--row", "--grid");
  add_output_options(command, *output);
  command.require("--out");
}

}  // namespace lookback::tools
