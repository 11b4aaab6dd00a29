// lookback stream: the online softmax as a filmstrip.
#include <cmath>
#include <memory>
#include <utility>

#include "attention/streaming.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/plot/lines.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {

// The last query of the text meets its keys one at a time.
Section stream_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const NoGradGuard no_grad;
  const TextSample sample = load_text(text);
  const int64_t T = sample.size();
  const UntrainedHead model = untrained_head(sample, seed);
  const Tensor v = model.head->value.forward(model.x);            // (T, d_v)
  const Tensor scores = narrow(head_scores(model), 0, T - 1, 1);  // (1, T)

  attention::StreamingSoftmax state({1}, v.size(1), DType::f32);
  plot::Series running_max{"running max", {}, {}, {}, true, true, false, {}};
  plot::Series score{"score", {}, {}, {}, false, true, false, {}};
  plot::Series running_sum{"running sum", {}, {}, {}, true, true, false, {}};
  plot::Series rescales{"rescaled here", {}, {}, {}, false, true, false, {}};
  Table table;  // as shown; `drawn` has every digit, and the output
  Table drawn;
  table.name = "keys";
  table.title = "What is kept after each key";
  table.header = {
      "key", "token", "score", "running max", "rescale", "running sum", "error against dense"};
  std::vector<Tensor> outputs;
  double worst = 0;
  int64_t rescaled = 0;
  for (int64_t j = 0; j < T; ++j) {
    state.step(narrow(scores, 1, j, 1), narrow(v, 0, j, 1));
    const Tensor dense = matmul(softmax(narrow(scores, 1, 0, j + 1), -1), narrow(v, 0, 0, j + 1));
    const double error = max(abs(state.output() - dense)).item<double>();
    const double factor = state.rescale().item<double>();
    worst = std::max(worst, error);
    const auto x = static_cast<double>(j);
    score.x.push_back(x);
    score.y.push_back(select(scores, 1, j).item<double>());
    running_max.x.push_back(x);
    running_max.y.push_back(state.running_max().item<double>());
    running_sum.x.push_back(x);
    running_sum.y.push_back(state.running_sum().item<double>());
    if (j > 0 && factor != 1.0) {
      ++rescaled;
      rescales.x.push_back(x);
      rescales.y.push_back(running_sum.y.back());
    }
    outputs.push_back(select(state.output(), 0, 0));
    table.rows.push_back({std::to_string(j), sample.labels[static_cast<size_t>(j)],
                          plot::exact(score.y.back()), plot::exact(running_max.y.back()),
                          plot::exact(factor), plot::exact(running_sum.y.back()),
                          plot::format_number(error, 3)});
    drawn.rows.push_back(table.rows.back());
    drawn.rows.back().back() = plot::exact(error);
    const Table output = matrix_table(outputs.back());
    drawn.rows.back().insert(drawn.rows.back().end(), output.rows[0].begin(), output.rows[0].end());
  }
  drawn.header = table.header;
  for (int64_t c = 0; c < v.size(1); ++c) {
    drawn.header.push_back("output, channel " + std::to_string(c));
  }
  plot::LinePlot top;
  top.series = {running_max, score};
  top.title = "Scores as they arrive, and the largest so far";
  top.x_title = "key";
  top.y_title = "score";
  top.width = 800;
  top.height = 200;
  top.whole_x = true;
  top.x_low = -0.5;
  top.x_high = static_cast<double>(T) - 0.5;
  plot::LinePlot middle;
  middle.series = {running_sum};
  if (!rescales.x.empty()) middle.series.push_back(rescales);
  middle.title = "The running sum of exp(score - max), rescaled where the maximum rises";
  middle.x_title = "key";
  middle.y_title = "sum";
  middle.width = 800;
  middle.height = 200;
  middle.whole_x = true;
  middle.x_low = top.x_low;
  middle.x_high = top.x_high;
  const Tensor film = transpose(stack(outputs), 0, 1);  // (d_v, T)
  plot::Heatmap strip = matrix_panel(film, {}, sample.labels, "The output, key by key");
  strip.row_title = "channel";
  strip.largest_cell = 18;
  strip.scale.map = plot::ColorMap::red_blue;
  strip.scale.title = "accumulator / sum";
  strip.scale.zero_is_masked = false;

  Figure figure;
  figure.name = "stream";
  figure.caption =
      "The last query meets its keys one at a time. When a larger score arrives, what was summed "
      "is rescaled; after every key the output is that of softmax over the keys so far.";
  figure.image = plot::figure(
      plot::arrange({plot::draw_lines(top), plot::draw_lines(middle), plot::draw_heatmap(strip)},
                    1),
      {"Softmax without seeing the whole row",
       sample.name + ", last query, " + model_text(sample, seed), "made by: " + command});
  figure.numbers = drawn;
  figure.hover = {hover_matrix(film, {}, sample.labels)};
  figure.hover[0].row_title = "channel";
  Section section;
  section.id = "stream";
  section.title = "Streaming softmax";
  section.claim =
      "Softmax does not change when a constant is added to every score. So a row can be normalised "
      "without being seen whole: keep a running maximum, a running sum and an accumulator, and "
      "rescale both when the maximum grows. This identity is the heart of fused attention.";
  section.facts = {
      {"largest error against dense softmax, over all steps: " + plot::format_number(worst, 3),
       {{"largest error", worst}}},
      {"rescales: " + std::to_string(rescaled) + " in " + std::to_string(T) + " keys",
       {{"rescales", static_cast<double>(rescaled)}, {"keys", static_cast<double>(T)}}}};
  section.figures.push_back(std::move(figure));
  section.tables = {table};
  section.source = text::definition_at("attention/streaming.cpp", "StreamingSoftmax::step");
  section.command = command;
  if (!(worst < 1e-5)) {
    section.failures = {"the error against dense softmax is " + plot::format_number(worst, 3)};
  }
  return section;
}

void add_stream(Program& program) {
  add_text_section_command(program, "stream", "The online softmax, key by key", stream_section);
}

}  // namespace lookback::tools
