// One head, several, or one row of a head, as a Figure each; and the lab's Section of them.
#include "tools/commands/heatmap.h"

#include <memory>
#include <ostream>
#include <stdexcept>

#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/program.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

struct Drawn {
  Figure figure;
  std::vector<Fact> facts;
  std::vector<std::string> failures{};  // at most one line
};

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

// Whatever is drawn: is it what attention must be, and is its first column heavier than it must be?
Fact simplex_fact(const std::string& name, const Tensor& weights) {
  const auto T = static_cast<double>(weights.size(0));
  const Tensor even = uniform_weights(weights.size(0));
  const double off = max(abs(sum(weights, 1) - 1.0)).item<double>();
  const double above = max(abs(weights - tril(weights))).item<double>();
  const double first = sum(select(weights, 1, 0)).item<double>() / T;
  const double fair = sum(select(even, 1, 0)).item<double>() / T;
  return {name + ": rows sum to 1 within " + plot::format_number(off, 2) +
              (above == 0 ? ", all exactly 0 after the query" : ", NOT all 0 after the query") +
              "; key 0 holds " + plot::format_number(first, 3) +
              " of the mass (evenly spread: " + plot::format_number(fair, 3) + ")",
          {{name + ", largest |row sum - 1|", off},
           {name + ", largest weight after the query", above},
           {name + ", mass of key 0", first},
           {name + ", mass of key 0, evenly spread", fair}}};
}

// The first of the panels' failures that is one, and how many more there are.
std::vector<std::string> first_failure(const std::vector<std::string>& all) {
  std::vector<std::string> failures;
  for (const std::string& failure : all) {
    if (!failure.empty()) failures.push_back(failure);
  }
  if (failures.size() <= 1) return failures;
  return {failures[0] + "; so in " + std::to_string(failures.size() - 1) + " more panels"};
}

Drawn single(const HeatmapOptions& options, const TextSample& sample) {
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
  const std::string name = "head " + std::to_string(options.head);
  return {std::move(figure),
          {simplex_fact(name, weights)},
          first_failure({simplex_failure(name, weights)})};
}

Drawn grid(const HeatmapOptions& options, const TextSample& sample) {
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
  for (int64_t i = 0; i < options.count; ++i) {
    const uint64_t seed = options.seed + (by_seed ? static_cast<uint64_t>(i) : 0);
    const int64_t head = options.head + (by_seed ? 0 : i);
    all.emplace_back(by_seed ? "seed " + std::to_string(seed) : "head " + std::to_string(head),
                     head_weights(untrained_head(sample, seed, head)));
  }
  all.emplace_back("baseline 1/(i+1)", uniform_weights(sample.size()));
  std::vector<HoverMatrix> hover;
  std::vector<Fact> facts;
  std::vector<std::string> failures;
  for (const auto& [name, weights] : all) {
    facts.push_back(simplex_fact(name, weights));
    failures.push_back(simplex_failure(name, weights));
    grid.panels.push_back(matrix_panel(weights, sample.labels, sample.labels, name));
    hover.push_back(hover_matrix(weights, sample.labels, sample.labels));
  }
  Figure figure =
      finish(options, plot::draw_heatmap_grid(grid), "Causal self-attention on " + sample.name,
             by_seed ? "one untrained head from " + std::to_string(options.count) + " seeds, " +
                           shapes_text(sample)
                     : std::to_string(options.count) + " untrained heads, " + shapes_text(sample) +
                           ", seed " + std::to_string(options.seed));
  figure.name = by_seed ? "seeds" : "heads";
  figure.caption = std::string(by_seed ? "The same text and head, other random weights"
                                       : "Heads that differ by nothing but their random weights") +
                   ", beside the row that is spread evenly over its keys: one colour scale.";
  figure.numbers = panel_table(all);
  figure.hover = std::move(hover);
  return {std::move(figure), std::move(facts), first_failure(failures)};
}

Drawn row_strip(const HeatmapOptions& options, const TextSample& sample, int64_t row) {
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
  const auto top = argmax(weights).item<int64_t>();
  const double largest = max(weights).item<double>();
  const double itself = select(weights, 0, i).item<double>();
  return {
      std::move(figure),
      {{"query " + std::to_string(i) + ": the heaviest key is " + std::to_string(top) + " '" +
            sample.labels[static_cast<size_t>(top)] + "' with " + plot::format_number(largest, 3) +
            "; the query itself has " + plot::format_number(itself, 3) +
            " (evenly spread: " + plot::format_number(1.0 / static_cast<double>(i + 1), 3) + ")",
        {{"heaviest key", static_cast<double>(top)},
         {"largest weight", largest},
         {"weight of the query itself", itself}}}},
      first_failure({simplex_failure("query " + std::to_string(i), unsqueeze(weights, 0), i)})};
}

Drawn draw_heatmap(const HeatmapOptions& options) {
  const TextSample sample = load_text(options.text);
  if (options.row) return row_strip(options, sample, *options.row);
  return options.grid == Grid::none ? single(options, sample) : grid(options, sample);
}

}  // namespace

std::string simplex_failure(const std::string& name, const Tensor& rows, int64_t first_query) {
  constexpr double kRounding = 1e-5;
  const double off = max(abs(sum(rows, 1) - 1.0)).item<double>();
  const double above = max(abs(rows - tril(rows, first_query))).item<double>();
  std::string failure;
  if (!(off <= kRounding)) failure = "a row's sum is off 1 by " + plot::format_number(off, 2);
  if (!(above == 0)) {
    failure += (failure.empty() ? "" : ", and ") + std::string("a weight after its query is ") +
               plot::format_number(above, 2) + " and not 0";
  }
  return failure.empty() ? "" : name + ": " + failure;
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
    Drawn drawn = draw_heatmap(options);
    section.figures.push_back(std::move(drawn.figure));
    section.failures.insert(section.failures.end(), drawn.failures.begin(), drawn.failures.end());
    if (options.grid == Grid::heads) return;  // its first head and the baseline have been told of
    section.facts.insert(section.facts.end(), drawn.facts.begin(), drawn.facts.end());
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
                    const Drawn drawn = draw_heatmap(*options);
                    write_figure(drawn.figure, output->png, output->csv);
                    for (const Fact& fact : drawn.facts) p.out << fact.sentence << '\n';
                    Section told;
                    told.id = "heatmap";
                    told.failures = drawn.failures;
                    return report_failures(p.err, told);
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
