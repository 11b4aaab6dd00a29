// lookback stream: the online softmax as a filmstrip.
#include <algorithm>
#include <limits>
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
  Tensor accumulator;  // (d_v), as the next
  Tensor output;       // accumulator / running_sum
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
                     select(state.accumulator(), 0, 0), select(state.output(), 0, 0),
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

// The same with every digit of the error, the accumulators and the outputs.
Table all_numbers(const std::vector<Step>& steps, const TextSample& sample) {
  Table table = key_table(steps, sample);
  for (const char* name : {"accumulator", "output"}) {
    for (int64_t c = 0; c < steps[0].output.numel(); ++c) {
      table.header.push_back(std::string(name) + ", channel " + std::to_string(c));
    }
  }
  for (size_t j = 0; j < steps.size(); ++j) {
    std::vector<std::string>& row = table.rows[j];
    row.back() = plot::exact(steps[j].error);
    for (const Tensor& numbers : {steps[j].accumulator, steps[j].output}) {
      const Table fields = matrix_table(numbers);
      row.insert(row.end(), fields.rows[0].begin(), fields.rows[0].end());
    }
  }
  return table;
}

// Orange means the same in every panel, and nothing else.
const plot::Rgb kRescaled = plot::series_color(1);

// What all panels share: the keys, at the same places, and where the maximum rose.
class Film {
 public:
  Film(const std::vector<Step>& steps, const TextSample& sample) : steps_(steps), sample_(sample) {}

  // (d_v, T): a column per key.
  plot::Panel strip(const Tensor& columns, const std::string& title, const std::string& unit) {
    plot::Heatmap heatmap = matrix_panel(columns, {}, sample_.labels, title);
    heatmap.row_title = "channel";
    heatmap.largest_cell = 12;
    heatmap.width = 768;
    heatmap.scale.map = plot::ColorMap::red_blue;
    heatmap.scale.title = unit;
    heatmap.scale.zero_is_masked = false;
    plot::Panel panel = plot::draw_heatmap(heatmap);
    const plot::CellArea& area = panel.areas.at(0);
    const int height = plot::Theme().px(4);
    for (size_t j = 0; j < steps_.size(); ++j) {
      if (!rescales(steps_, j)) continue;
      panel.canvas.fill_rect(area.x + static_cast<int>(j) * area.cell_width, area.y - height,
                             area.cell_width, height, kRescaled);
    }
    width_ = area.columns * area.cell_width / static_cast<double>(plot::Theme().scale());
    return panel;
  }

  // As wide as the strips; REQUIRES: one was drawn before.
  plot::Panel lines(plot::LinePlot plot, double low, double high) {
    plot::Series marks{.name = "rescaled here", .points = false, .color = kRescaled};
    for (size_t j = 0; j < steps_.size(); ++j) {
      if (!rescales(steps_, j)) continue;
      const auto x = static_cast<double>(j);
      marks.x.insert(marks.x.end(), {x, x, x});
      marks.y.insert(marks.y.end(), {low, high, std::numeric_limits<double>::quiet_NaN()});
    }
    if (!marks.x.empty()) plot.series.insert(plot.series.begin(), marks);
    plot.x_title = "key";
    plot.width = width_;
    plot.height = 160;
    plot.whole_x = true;
    plot.x_low = -0.5;
    plot.x_high = static_cast<double>(steps_.size()) - 0.5;
    plot.y_low = low;
    plot.y_high = high;
    return plot::draw_lines(plot);
  }

  // One number of every step. `take` gives NaN where there is nothing to draw.
  template <class Take>
  plot::Series series(const std::string& name, int color, const Take& take) const {
    plot::Series series{.name = name, .color = plot::series_color(color)};
    for (size_t j = 0; j < steps_.size(); ++j) {
      series.x.push_back(static_cast<double>(j));
      series.y.push_back(take(steps_[j]));
    }
    return series;
  }

 private:
  const std::vector<Step>& steps_;
  const TextSample& sample_;
  double width_ = 0;
};

plot::Panel draw_scores(Film& film, const std::vector<Step>& steps) {
  plot::LinePlot plot;
  plot.series = {film.series("running max", 0, [](const Step& s) { return s.running_max; }),
                 film.series("score", 2, [](const Step& s) { return s.score; })};
  plot.series[1].line = false;
  plot.title = "Scores as they arrive, and the largest so far";
  plot.y_title = "score";
  double low = steps[0].score;
  for (const Step& step : steps) low = std::min(low, step.score);
  const double high = steps.back().running_max;
  const double air = 0.1 * std::max(high - low, 0.1);
  return film.lines(plot, low - air, high + air);
}

plot::Panel draw_sums(Film& film, const std::vector<Step>& steps) {
  plot::LinePlot plot;
  plot.series = {film.series("running sum", 0, [](const Step& s) { return s.running_sum; })};
  plot.title = "The running sum of exp(score - max)";
  plot.y_title = "sum";
  double high = 0;
  for (const Step& step : steps) high = std::max(high, step.running_sum);
  return film.lines(plot, 0, 1.1 * high);
}

// A logarithmic axis has no place for 0: such errors stand at its foot, and say so.
plot::Panel draw_errors(Film& film, const std::vector<Step>& steps) {
  constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
  double low = kEpsilon;
  double high = kEpsilon;
  for (const Step& step : steps) {
    if (step.error > 0) low = std::min(low, step.error);
    high = std::max(high, step.error);
  }
  const double foot = low / 4;
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  plot::LinePlot plot;
  plot.series = {
      film.series("epsilon of float32", 7, [](const Step&) { return kEpsilon; }),
      film.series("error", 0, [](const Step& s) { return s.error > 0 ? s.error : kNothing; }),
      film.series("exactly 0, at the foot", 2,
                  [foot](const Step& s) { return s.error == 0 ? foot : kNothing; })};
  plot.series[0].points = false;
  plot.series[0].color = plot::palette::muted;
  plot.series[2].line = false;
  plot.title = "The output's largest error against dense softmax over the keys so far";
  plot.y_title = "error, logarithmic";
  plot.log_y = true;
  return film.lines(plot, foot / 1.25, 3 * high);
}

Figure draw(const std::vector<Step>& steps, double worst, const TextSample& sample, uint64_t seed,
            const std::string& command) {
  std::vector<Tensor> accumulators, outputs;
  for (const Step& step : steps) {
    accumulators.push_back(step.accumulator);
    outputs.push_back(step.output);
  }
  const Tensor sums = transpose(stack(accumulators), 0, 1);  // (d_v, T)
  const Tensor means = transpose(stack(outputs), 0, 1);      // (d_v, T)
  Film film(steps, sample);
  const plot::Panel accumulator =
      film.strip(sums, "The accumulator: values, weighted by exp(score - max)", "accumulator");
  const plot::Panel output = film.strip(means, "The output: accumulator / sum", "output");
  Figure figure;
  figure.name = "stream";
  figure.caption =
      "The last query meets its keys one at a time. When a larger score arrives, sum and "
      "accumulator are rescaled (orange); the output, their quotient, is after every key within " +
      plot::format_number(worst, 2) + " of softmax over the keys so far.";
  figure.image = plot::figure(
      plot::arrange({draw_scores(film, steps), draw_sums(film, steps), accumulator, output,
                     draw_errors(film, steps)},
                    1),
      {"Softmax without seeing the whole row",
       sample.name + ", last query, " + model_text(sample, seed), "made by: " + command});
  figure.numbers = all_numbers(steps, sample);
  for (const Tensor& strip : {sums, means}) {
    figure.hover.push_back(hover_matrix(strip, {}, sample.labels));
    figure.hover.back().row_title = "channel";
  }
  return figure;
}

}  // namespace

Section stream_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const NoGradGuard no_grad;
  const TextSample sample = load_text(text);
  const UntrainedHead model = untrained_head(sample, seed);
  const std::vector<Step> steps = stream(model);
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
  compare_with_library(section, "the last output", steps.back().output, "Head::forward()",
                       select(model.head->forward(model.x), 0, -1));
  return section;
}

void add_stream(Program& program) {
  add_text_section_command(program, "stream", "The online softmax, key by key", stream_section);
}

}  // namespace lookback::tools
