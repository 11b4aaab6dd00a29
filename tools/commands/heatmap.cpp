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
  const Tensor weights = head_weights(untrained_head(sample, options.seed, options.head));
  plot::Heatmap panel = matrix_panel(weights, sample.labels, sample.labels);
  panel.scale = weight_scale(sample.size());
  Figure figure =
      finish(options, plot::draw_heatmap(panel), "Causal self-attention on " + sample.name,
             "untrained head " + std::to_string(options.head) + ", " + shapes(sample) + ", seed " +
                 std::to_string(options.seed));
  figure.name = "heatmap";
  figure.caption = "Each row is a query's distribution over the keys up to itself; it sums to 1.";
  figure.numbers = matrix_table(weights);
  figure.hover = {{sample.labels, sample.labels, to_doubles(weights)}};
  return figure;
}

Figure grid(const HeatmapOptions& options, const TextSample& sample) {
  const bool by_seed = options.grid == Grid::seeds;
  plot::HeatmapGrid grid;
  grid.scale = weight_scale(sample.size());
  Figure figure;
  std::vector<Tensor> all;
  std::vector<HoverMatrix> hover;
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + (by_seed ? static_cast<uint64_t>(i) : 0);
    const int64_t head = options.head + (by_seed ? 0 : i);
    all.push_back(head_weights(untrained_head(sample, seed, head)));
    grid.panels.push_back(
        matrix_panel(all.back(), sample.labels, sample.labels,
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

Figure row_strip(const HeatmapOptions& options, const TextSample& sample, int64_t row) {
  const int64_t T = sample.size();
  check_index(row >= -T && row < T, "row", "row ", row, " is out of range for ", T, " tokens");
  const int64_t i = row < 0 ? row + T : row;
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
                         sample.name + ", untrained head " + std::to_string(options.head) + ", " +
                             shapes(sample) + ", seed " + std::to_string(options.seed));
  figure.name = "heatmap-row";
  figure.caption = "One row of the matrix, the last query: its distribution over the keys.";
  figure.numbers = matrix_table(weights);
  figure.hover = {{{sample.labels[static_cast<size_t>(i)]}, sample.labels, to_doubles(weights)}};
  return figure;
}

}  // namespace

Figure heatmap_figure(const HeatmapOptions& options) {
  const TextSample sample = load_text(options.text);
  if (options.row) return row_strip(options, sample, *options.row);
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
  section.source = text::definition_at("attention/head.cpp", "Head::forward") + "; " +
                   text::definition_at("attention/head.cpp", "Head::weights");
  section.command = options.command + " --out heatmap.png --csv heatmap.csv";
  section.figures.push_back(heatmap_figure(options));
  const std::string base = options.command;
  for (const Grid kind : {Grid::seeds, Grid::heads}) {
    options.grid = kind;
    options.command = base + (kind == Grid::seeds ? " --grid seeds" : " --grid heads");
    section.figures.push_back(heatmap_figure(options));
  }
  options.grid = Grid::none;
  options.row = -1;
  options.command = base + " --row -1";
  section.figures.push_back(heatmap_figure(options));
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
  command.number("--head", options->head, "Which head drawn from the seed (from 0)", 0,
                 Default::hidden);
  command.choice<Grid>("--grid", options->grid, "Several panels in one figure: heads or seeds",
                       {{"heads", Grid::heads}, {"seeds", Grid::seeds}});
  command.number("--count", options->count, "Panels of a grid", 1, Default::hidden);
  command.number("--row", options->row, "One query's distribution as bars; -1: the last");
  command.exclusive("--row", "--grid");
  add_output_options(command, *output);
}

}  // namespace lookback::tools
