// lookback stream: the online softmax as a filmstrip.
#include <algorithm>
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

namespace {

// What is kept after a key, and how far its output is from that of dense softmax over the keys so
// far.
struct Step {
  double score;
  double running_max;
  double factor;  // by which what was summed before is rescaled
  double running_sum;
  Tensor output;  // (d_v)
  double error;
};

// The last query of the text meets its keys one at a time.
std::vector<Step> stream(const UntrainedHead& model) {
  const int64_t T = model.x.size(0);
  const Tensor v = model.head->value.forward(model.x);            // (T, d_v)
  const Tensor scores = narrow(head_scores(model), 0, T - 1, 1);  // (1, T)
  attention::StreamingSoftmax state({1}, v.size(1), DType::f32);
  std::vector<Step> steps;
  for (int64_t j = 0; j < T; ++j) {
    state.step(narrow(scores, 1, j, 1), narrow(v, 0, j, 1));
    const Tensor dense = matmul(softmax(narrow(scores, 1, 0, j + 1), -1), narrow(v, 0, 0, j + 1));
    steps.push_back({select(scores, 1, j).item<double>(), state.running_max().item<double>(),
                     state.rescale().item<double>(), state.running_sum().item<double>(),
                     select(state.output(), 0, 0),
                     max(abs(state.output() - dense)).item<double>()});
  }
  return steps;
}

// The first key has nothing before it to rescale.
bool rescales(const std::vector<Step>& steps, size_t j) { return j > 0 && steps[j].factor != 1.0; }

Table key_table(const std::vector<Step>& steps, const TextSample& sample) {
  Table table;
  table.name = "keys";
  table.title = "What is kept after each key";
  table.header = {
      "key", "token", "score", "running max", "rescale", "running sum", "error against dense"};
  for (size_t j = 0; j < steps.size(); ++j) {
    const Step& step = steps[j];
    table.rows.push_back({std::to_string(j), sample.labels[j], plot::exact(step.score),
                          plot::exact(step.running_max), plot::exact(step.factor),
                          plot::exact(step.running_sum), plot::format_number(step.error, 3)});
  }
  return table;
}

// The same with every digit of the error, and the outputs.
Table all_numbers(const std::vector<Step>& steps, const TextSample& sample) {
  Table table = key_table(steps, sample);
  for (int64_t c = 0; c < steps[0].output.numel(); ++c) {
    table.header.push_back("output, channel " + std::to_string(c));
  }
  for (size_t j = 0; j < steps.size(); ++j) {
    std::vector<std::string>& row = table.rows[j];
    row.back() = plot::exact(steps[j].error);
    const Table output = matrix_table(steps[j].output);
    row.insert(row.end(), output.rows[0].begin(), output.rows[0].end());
  }
  return table;
}

// A plot over the keys, as wide as the others.
plot::LinePlot key_plot(size_t keys, const std::string& title, const std::string& y_title,
                        std::vector<plot::Series> series) {
  plot::LinePlot plot;
  plot.series = std::move(series);
  plot.title = title;
  plot.x_title = "key";
  plot.y_title = y_title;
  plot.width = 800;
  plot.height = 200;
  plot.whole_x = true;
  plot.x_low = -0.5;
  plot.x_high = static_cast<double>(keys) - 0.5;
  return plot;
}

plot::Panel draw_steps(const std::vector<Step>& steps, const plot::Heatmap& film) {
  plot::Series running_max{.name = "running max"};
  plot::Series score{.name = "score", .line = false};
  plot::Series running_sum{.name = "running sum"};
  plot::Series rescaled{.name = "rescaled here", .line = false};
  const auto add = [](plot::Series& series, size_t x, double y) {
    series.x.push_back(static_cast<double>(x));
    series.y.push_back(y);
  };
  for (size_t j = 0; j < steps.size(); ++j) {
    add(running_max, j, steps[j].running_max);
    add(score, j, steps[j].score);
    add(running_sum, j, steps[j].running_sum);
    if (rescales(steps, j)) add(rescaled, j, steps[j].running_sum);
  }
  std::vector<plot::Series> sums = {running_sum};
  if (!rescaled.x.empty()) sums.push_back(rescaled);
  return plot::arrange(
      {plot::draw_lines(key_plot(steps.size(), "Scores as they arrive, and the largest so far",
                                 "score", {running_max, score})),
       plot::draw_lines(key_plot(
           steps.size(), "The running sum of exp(score - max), rescaled where the maximum rises",
           "sum", std::move(sums))),
       plot::draw_heatmap(film)},
      1);
}

Figure draw(const std::vector<Step>& steps, double worst, const TextSample& sample, uint64_t seed,
            const std::string& command) {
  std::vector<Tensor> outputs;
  for (const Step& step : steps) outputs.push_back(step.output);
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
      "is rescaled; after every key the output is within " +
      plot::format_number(worst, 2) + " of softmax over the keys so far.";
  figure.image = plot::figure(
      draw_steps(steps, strip),
      {"Softmax without seeing the whole row",
       sample.name + ", last query, " + model_text(sample, seed), "made by: " + command});
  figure.numbers = all_numbers(steps, sample);
  figure.hover = {hover_matrix(film, {}, sample.labels)};
  figure.hover[0].row_title = "channel";
  return figure;
}

}  // namespace

Section stream_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const NoGradGuard no_grad;
  const TextSample sample = load_text(text);
  const std::vector<Step> steps = stream(untrained_head(sample, seed));
  double worst = 0;
  int64_t rescaled = 0;
  for (size_t j = 0; j < steps.size(); ++j) {
    worst = std::max(worst, steps[j].error);
    rescaled += rescales(steps, j) ? 1 : 0;
  }
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
      {"rescales: " + std::to_string(rescaled) + " in " + std::to_string(steps.size()) + " keys",
       {{"rescales", static_cast<double>(rescaled)}, {"keys", static_cast<double>(steps.size())}}}};
  section.figures.push_back(draw(steps, worst, sample, seed, command));
  section.tables = {key_table(steps, sample)};
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
