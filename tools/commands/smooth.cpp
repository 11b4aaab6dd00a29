// lookback smooth: attention by position alone is Nadaraya-Watson smoothing.
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "attention/masks.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/plot/axis.h"
#include "tools/plot/lines.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

const std::vector<double> kBandwidths = {0.5, 2, 8, 32};

// softmax of -(i - j)^2 / (2 s^2), masked: (T, T)  (Nadaraya 1964; Watson 1964)
Tensor smoothing_weights(int64_t T, double s) {
  const Tensor i = to(unsqueeze(arange(T), 1), DType::f64);
  const Tensor j = to(arange(T), DType::f64);
  const Tensor distance = i - j;
  const Tensor scores = distance * distance * (-1.0 / (2.0 * s * s));
  const double infinity = std::numeric_limits<double>::infinity();
  return softmax(where(attention::causal_mask(T, T), scores, full({}, -infinity, DType::f64)), -1);
}

// A step, a ramp and a wave, with noise: (T)
Tensor noisy_signal(int64_t T, uint64_t seed) {
  Generator generator(seed);
  std::vector<double> values;
  for (int64_t t = 0; t < T; ++t) {
    const double u = static_cast<double>(t) / static_cast<double>(T);
    const double clean = u < 0.3 ? 0.0 : u < 0.6 ? 1.0 : std::sin(20 * u);
    values.push_back(clean + 0.25 * generator.next_normal());
  }
  return from_vector(values, {T});
}

// One bandwidth: its weights (T, T), what they make of the signal (T), the weight of the last
// position on itself, and how far back its weights become exactly 0 (T: nowhere).
struct Smoother {
  std::string name;
  double s;
  Tensor weights;
  Tensor smoothed;
  double itself;
  int64_t reach;
};

// A Gaussian is nowhere 0; float64 is, where exp(-distance^2 / 2 s^2) is less than it can hold.
int64_t reach_of(const Tensor& weights) {
  const int64_t T = weights.size(0);
  const std::vector<double> last = to_doubles(select(weights, 0, T - 1));
  int64_t distance = 0;
  while (distance < T && last[static_cast<size_t>(T - 1 - distance)] != 0) ++distance;
  return distance;
}

// "at s = 0.5 from 20 positions back", for all that end before the text does.
std::string underflows(const std::vector<Smoother>& all, int64_t T) {
  std::string where;
  for (const Smoother& s : all) {
    if (s.reach == T) continue;
    where += (where.empty() ? "" : ", ") + ("at " + s.name) + " from " + std::to_string(s.reach) +
             " positions back (e^-" +
             plot::format_number(static_cast<double>(s.reach * s.reach) / (2 * s.s * s.s), 4) + ")";
  }
  return where;
}

std::vector<Smoother> smoothers(const Tensor& signal) {
  const int64_t T = signal.numel();
  std::vector<Smoother> all;
  for (const double s : kBandwidths) {
    const Tensor A = smoothing_weights(T, s);
    all.push_back({"s = " + plot::format_number(s, 2), s, A, matmul(A, signal),
                   select(select(A, 0, T - 1), 0, T - 1).item<double>(), reach_of(A)});
  }
  return all;
}

plot::Panel draw_weights(const std::vector<Smoother>& all, int64_t T) {
  plot::HeatmapGrid grid;
  grid.columns = static_cast<int>(all.size());
  grid.scale = weight_scale(T);
  grid.scale.masked_label = underflows(all, T).empty() ? "0 (masked)" : "0: masked or underflow";
  if (grid.scale.log) grid.scale.low = 1e-3;  // the tails of a Gaussian have no end
  for (const Smoother& s : all) grid.panels.push_back(matrix_panel(s.weights, {}, {}, s.name));
  return plot::draw_heatmap_grid(grid);
}

// Layout units from the first matrix to the end of the last.
double width_of(const plot::Panel& matrices) {
  const plot::CellArea& first = matrices.areas.front();
  const plot::CellArea& last = matrices.areas.back();
  return (last.x + last.columns * last.cell_width - first.x) /
         static_cast<double>(plot::Theme().scale());
}

plot::Panel draw_signals(const std::vector<Smoother>& all, const Tensor& signal, double width) {
  plot::LinePlot lines;
  lines.title = "What each does to a signal";
  lines.x_title = "position";
  lines.y_title = "value";
  lines.width = width;
  lines.whole_x = true;
  const std::vector<double> time = to_doubles(arange(signal.numel()));
  const auto add = [&](const std::string& name, const Tensor& values, bool line) {
    plot::Series series;
    series.name = name;
    series.x = time;
    series.y = to_doubles(values);
    series.line = line;
    series.points = !line;
    lines.series.push_back(std::move(series));
  };
  add("signal", signal, false);
  for (const Smoother& s : all) add(s.name, s.smoothed, true);
  return plot::draw_lines(lines);
}

Figure draw(const std::vector<Smoother>& all, const Tensor& signal, uint64_t seed,
            const std::string& command) {
  const int64_t T = signal.numel();
  const std::string lost = underflows(all, T);
  const plot::Panel weights = draw_weights(all, T);
  Figure figure;
  figure.name = "smooth";
  figure.caption =
      "The narrower the bandwidth, the more of a position's output is its own value: " +
      plot::format_number(all.front().itself, 3) + " of the last one's at " + all.front().name +
      ", " + plot::format_number(all.back().itself, 3) + " at " + all.back().name +
      ". No smoother sees ahead." +
      (lost.empty() ? "" : " Weights too small for float64 are exactly 0, grey: " + lost + ".");
  figure.image =
      plot::figure(plot::arrange({weights, draw_signals(all, signal, width_of(weights))}, 1),
                   {"Attention by position alone: a smoother",
                    "weights softmax(-(i - j)^2 / 2 s^2), masked; T " + std::to_string(T) +
                        ", seed " + std::to_string(seed),
                    "made by: " + command});
  std::vector<std::pair<std::string, Tensor>> numbers;
  for (const Smoother& s : all) {
    numbers.emplace_back(s.name, s.weights);
    figure.hover.push_back(hover_matrix(s.weights, {}, {}));
  }
  numbers.emplace_back("signal", signal);
  for (const Smoother& s : all) numbers.emplace_back(s.name + ", smoothed", s.smoothed);
  figure.numbers = panel_table(numbers);
  return figure;
}

}  // namespace

Section smooth_section(int64_t T, uint64_t seed, const std::string& command) {
  check(T >= 2 && T <= kMaxContext, "smooth", "the context must be between 2 and ", kMaxContext,
        "; got ", T);
  const Tensor signal = noisy_signal(T, seed);
  const std::vector<Smoother> all = smoothers(signal);
  Section section;
  section.id = "smooth";
  section.title = "Attention as smoothing";
  section.claim =
      "Let scores depend on positions only. What is left of attention is a kernel smoother of "
      "known bandwidth, the Nadaraya-Watson estimator: the dependence on content is all that "
      "attention adds. Its bandwidth being known, a narrow diagonal or a broad average has an "
      "explanation here, which one in the heatmap of a head lacks.";
  section.figures.push_back(draw(all, signal, seed, command));
  for (const Smoother& s : all) {
    section.facts.push_back(
        {s.name + ": the last position gives itself the weight " + plot::format_number(s.itself, 3),
         {{s.name + ", weight of the last position on itself", s.itself}}});
  }
  const std::string lost = underflows(all, T);
  if (!lost.empty()) {
    Fact fact("weights too small for float64 are exactly 0 " + lost);
    for (const Smoother& s : all) {
      fact.numbers.push_back({s.name + ", positions back", static_cast<double>(s.reach)});
    }
    section.facts.push_back(std::move(fact));
  }
  section.source = text::definition_at("tools/commands/smooth.cpp", "smoothing_weights");
  section.command = command;
  return section;
}

void add_smooth(Program& program) {
  struct Options {
    int64_t context = 64;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command =
      add_section_command(program, "smooth", "Attention by position alone: kernel smoothing",
                          [options](const std::string& line) {
                            return smooth_section(options->context, options->seed, line);
                          });
  command.number("--context", options->context, "Positions", {2, kMaxContext});
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
