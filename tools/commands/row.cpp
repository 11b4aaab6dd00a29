// lookback row: the softmax microscope. One query's row, from dot product to weight.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/plot/bars.h"
#include "tools/plot/csv.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

std::string short_number(double value) { return plot::format_number(value, 5); }

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

double entropy(const std::vector<double>& p) {
  double total = 0;
  for (const double x : p) total -= x > 0 ? x * std::log(x) : 0.0;
  return total;
}

// The Frobenius norm of softmax's Jacobian diag(p) - p p^T.
double jacobian_norm(const Tensor& p) {
  const Tensor J = eye(p.numel(), p.dtype()) * p - unsqueeze(p, 1) * unsqueeze(p, 0);
  return std::sqrt(sum(J * J).item<double>());
}

// Everything that happens to one row of scores, in order; each (T) but for `terms`.
struct Steps {
  int64_t query;
  Tensor q;             // (d_k)
  Tensor terms;         // (T, d_k): q_c k_c, for every key
  Tensor raw;           // q . k
  Tensor scaled;        // by 1 / sqrt(d_k)
  Tensor masked;        // -infinity after the query
  double largest;       // of `masked`
  Tensor shifted;       // masked - largest
  Tensor exponentials;  // exp(shifted)
  Tensor weights;       // softmax(masked)
  Tensor unscaled;      // weights without the scale
  int64_t top;          // the key of the largest weight
  Tensor slope;         // d weights[top] / d masked
};

Steps steps_of(const UntrainedHead& model, int64_t i) {
  const int64_t T = model.x.size(0);
  Steps s;
  s.query = i;
  const Tensor k = model.head->key.forward(model.x).detach();            // (T, d_k)
  s.q = select(model.head->query.forward(model.x).detach(), 0, i);       // (d_k)
  s.terms = k * s.q;                                                     // (T, d_k)
  s.raw = select(matmul(k, unsqueeze(s.q, 1)), 1, 0);                    // (T)
  s.scaled = s.raw * (1.0 / std::sqrt(static_cast<double>(k.size(1))));  // (T)
  const Tensor seen = arange(T) <= static_cast<double>(i);
  const Tensor never = full({}, -std::numeric_limits<double>::infinity());
  s.masked = where(seen, s.scaled, never);
  s.largest = max(s.masked).item<double>();
  s.shifted = s.masked - s.largest;
  s.exponentials = exp(s.shifted);
  const Tensor variable = s.masked.clone().set_requires_grad(true);
  const Tensor p = softmax(variable, -1);
  s.weights = p.detach();
  s.unscaled = softmax(where(seen, s.raw, never), -1);
  s.top = argmax(p).item<int64_t>();
  s.slope = grad(select(p, 0, s.top), {variable})[0];
  return s;
}

// The shortest decimal that gives the float32 back.
std::string exact(double value) { return plot::exact(static_cast<float>(value)); }

// What happened to one key's score, the numbers as `write` writes them.
template <class Write>
std::vector<std::string> steps_of_key(const Steps& s, int64_t j, const Write& write) {
  const auto at = [&](const Tensor& x) { return select(x, 0, j).item<double>(); };
  return {write(at(s.raw)),     write(at(s.scaled)),       write(at(s.masked)),
          write(at(s.shifted)), write(at(s.exponentials)), exact(at(s.weights)),
          hex(at(s.weights)),   write(at(s.slope))};
}

const std::vector<std::string> kStepNames = {"q.k", "scaled", "masked",       "minus max",
                                             "exp", "weight", "weight (hex)", "d w_top / d score"};

Table step_table(const Steps& s, const TextSample& sample) {
  Table table;
  table.name = "steps";
  table.title = "Query " + std::to_string(s.query) + ", '" +
                sample.labels[static_cast<size_t>(s.query)] + "': from score to weight";
  table.header = {"key", "token"};
  table.header.insert(table.header.end(), kStepNames.begin(), kStepNames.end());
  for (int64_t j = 0; j < sample.size(); ++j) {
    table.rows.push_back({std::to_string(j), sample.labels[static_cast<size_t>(j)]});
    const auto fields = steps_of_key(s, j, short_number);
    table.rows.back().insert(table.rows.back().end(), fields.begin(), fields.end());
  }
  return table;
}

// The keys whose terms are listed: all that the query sees; if they are many, the heaviest.
std::vector<int64_t> listed_keys(const Steps& s) {
  constexpr size_t kMost = 16;
  const std::vector<double> p = to_doubles(s.weights);
  std::vector<int64_t> keys(static_cast<size_t>(s.query + 1));
  std::iota(keys.begin(), keys.end(), 0);
  if (keys.size() > kMost) {
    std::stable_sort(keys.begin(), keys.end(), [&](int64_t a, int64_t b) {
      return p[static_cast<size_t>(a)] > p[static_cast<size_t>(b)];
    });
    keys.resize(kMost);
    std::sort(keys.begin(), keys.end());
  }
  return keys;
}

// A line per key: what each channel adds to q . k.
Table term_table(const Steps& s, const TextSample& sample) {
  const std::vector<int64_t> keys = listed_keys(s);
  const bool all = static_cast<int64_t>(keys.size()) == s.query + 1;
  Table table;
  table.name = "terms";
  table.title =
      "The terms q_c k_c of each score" + (all ? std::string()
                                               : ", for the " + std::to_string(keys.size()) +
                                                     " keys of largest weight (the CSV has all)");
  table.header = {"key", "token"};
  for (int64_t c = 0; c < s.q.numel(); ++c) table.header.push_back("c = " + std::to_string(c));
  table.header.insert(table.header.end(), {"sum q.k", "/ sqrt(d_k)", "weight"});
  std::vector<std::string> question = {"", "q itself"};
  for (const double value : to_doubles(s.q)) question.push_back(plot::format_number(value, 3));
  question.resize(table.header.size());
  table.rows.push_back(std::move(question));
  for (const int64_t j : keys) {
    std::vector<std::string> row = {std::to_string(j), sample.labels[static_cast<size_t>(j)]};
    for (const double term : to_doubles(select(s.terms, 0, j))) {
      row.push_back(plot::format_number(term, 3));
    }
    for (const Tensor& x : {s.raw, s.scaled, s.weights}) {
      row.push_back(plot::format_number(select(x, 0, j).item<double>(), 4));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Every number of both tables, in full, and the weights without the scale.
Table all_numbers(const Steps& s, const TextSample& sample) {
  Table table;
  table.header = {"key", "token"};
  for (int64_t c = 0; c < s.q.numel(); ++c)
    table.header.push_back("q_c k_c, c = " + std::to_string(c));
  table.header.insert(table.header.end(), kStepNames.begin(), kStepNames.end());
  table.header.push_back("weight, not scaled");
  for (int64_t j = 0; j < sample.size(); ++j) {
    std::vector<std::string> row = {std::to_string(j), sample.labels[static_cast<size_t>(j)]};
    for (const double term : to_doubles(select(s.terms, 0, j))) row.push_back(exact(term));
    const auto fields = steps_of_key(s, j, exact);
    row.insert(row.end(), fields.begin(), fields.end());
    row.push_back(exact(select(s.unscaled, 0, j).item<double>()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

plot::Bars bars_of(const Tensor& p, const Steps& s, const TextSample& sample,
                   const std::string& title) {
  plot::Bars bars;
  bars.values = to_doubles(p);
  // One scale for both rows.
  bars.high = std::min(1.0, 1.1 * max(maximum(s.weights, s.unscaled)).item<double>());
  bars.labels = sample.labels;
  bars.title = title;
  bars.highlight = s.query;
  bars.highlight_label = "the query itself";
  bars.width = 800;
  return bars;
}

// (d_k, T): a column per key, summing to its score; keys after the query are masked.
plot::Heatmap term_strip(const Steps& s, const TextSample& sample) {
  const Tensor seen = to(arange(sample.size()) <= static_cast<double>(s.query), DType::boolean);
  const Tensor shown = where(seen, transpose(s.terms, 0, 1), zeros({}));
  plot::Heatmap strip = matrix_panel(shown, {}, sample.labels,
                                     "The terms of q.k: column j sums to the score of key j");
  const double most = max(abs(shown)).item<double>();
  strip.row_title = "channel c";
  strip.largest_cell = 18;
  strip.scale.map = plot::ColorMap::red_blue;
  strip.scale.low = -most;
  strip.scale.high = most;
  strip.scale.title = "q_c k_c";
  return strip;
}

Figure row_figure(const Steps& s, const TextSample& sample, const std::string& subtitle,
                  const std::string& command) {
  Figure figure;
  figure.name = "row";
  figure.caption =
      "Above, what each channel adds to the score of each key. Below, the distribution that "
      "softmax makes of the scores, with and without division by sqrt(d_k); keys after the query "
      "are masked.";
  figure.image = plot::figure(
      plot::arrange({plot::draw_heatmap(term_strip(s, sample)),
                     plot::draw_bars(bars_of(s.weights, s, sample, "scaled by 1/sqrt(d_k)")),
                     plot::draw_bars(bars_of(s.unscaled, s, sample, "not scaled"))},
                    1),
      {"One row under the microscope", subtitle, "made by: " + command});
  figure.numbers = all_numbers(s, sample);
  const std::string query = sample.labels[static_cast<size_t>(s.query)];
  figure.hover = {hover_matrix(transpose(s.terms, 0, 1), {}, sample.labels),
                  hover_matrix(s.weights, {query}, sample.labels),
                  hover_matrix(s.unscaled, {query}, sample.labels)};
  figure.hover[0].row_title = "channel";
  figure.hover[1].first_row = figure.hover[2].first_row = s.query;
  return figure;
}

}  // namespace

Section row_section(const TextOptions& text, uint64_t seed, int64_t row,
                    const std::string& command) {
  const TextSample sample = load_text(text);
  const int64_t i = row_of(row, sample.size());
  const Steps s = steps_of(untrained_head(sample, seed), i);
  const double rounding = max(abs(sum(s.terms, 1) - s.raw)).item<double>();
  const double total = sum(s.exponentials).item<double>();
  const double entropies[] = {entropy(to_doubles(s.weights)), entropy(to_doubles(s.unscaled)),
                              std::log(static_cast<double>(i + 1))};
  const double norms[] = {jacobian_norm(s.weights), jacobian_norm(s.unscaled)};
  Section section;
  section.id = "row";
  section.title = "The softmax microscope";
  section.claim =
      "One row of attention, step by step: the terms of each dot product, their sum, the scale, "
      "the mask, the maximum that is subtracted, exponentials, weights to the last bit, and how "
      "the largest weight responds to each score.";
  section.facts = {
      {"max " + short_number(s.largest) + ", sum of exponentials " + short_number(total),
       {{"max", s.largest}, {"sum of exponentials", total}}},
      {"entropy " + short_number(entropies[0]) + " scaled, " + short_number(entropies[1]) +
           " not scaled (uniform: " + short_number(entropies[2]) + ")",
       {{"entropy, scaled", entropies[0]},
        {"entropy, not scaled", entropies[1]},
        {"entropy, uniform", entropies[2]}}},
      {"norm of diag(p) - p p^T: " + short_number(norms[0]) + " scaled, " + short_number(norms[1]) +
           " not scaled",
       {{"norm of diag(p) - p p^T, scaled", norms[0]},
        {"norm of diag(p) - p p^T, not scaled", norms[1]}}},
      {"terms summed one by one differ from q.k by at most " + plot::format_number(rounding, 2),
       {{"largest difference", rounding}}}};
  section.figures = {row_figure(s, sample,
                                sample.name + ", query " + std::to_string(i) + " '" +
                                    sample.labels[static_cast<size_t>(i)] + "', " +
                                    model_text(sample, seed),
                                command)};
  section.tables = {term_table(s, sample), step_table(s, sample)};
  section.data = {panel_table({{"q", s.q}})};
  section.data[0].name = "query";
  section.source = text::code_at("attention/scaled_dot_product.cpp",
                                 "Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;") +
                   ", q.k; " + text::definition_at("engine/ops/softmax.cpp", "softmax");
  section.command = command;
  return section;
}

void add_row(Program& program) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
    int64_t row = -1;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_section_command(
      program, "row", "One query's row, from dot product to weight, in every digit",
      [options](const std::string& line) {
        return row_section(options->text, options->seed, options->row, line);
      });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
  command.number("--row", options->row, "The query; negative: from the end",
                 {-kMaxContext, kMaxContext - 1});
}

}  // namespace lookback::tools
