// lookback influence: how much each input moves each output, beside how much it is attended to.
#include <algorithm>
#include <cmath>
#include <memory>

#include "attention/masks.h"
#include "attention/scaled_dot_product.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"
#include "tools/plot/axis.h"
#include "tools/report/panels.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

// Norms of d out_i / d x_j, each (T, T) in float64: through all that x_j is to query i, through
// each of these alone, and through all but the query.
struct Ways {
  Tensor all, value, key, query, no_query;
};

// (C, n, d) -> (n): over the C numbers of an output and the d numbers of an input. Squared in
// float64, where no float32 but 0 has the square 0.
Tensor norms(const Tensor& dx) {
  const Tensor exact = to(dx, DType::f64);
  return sqrt(sum(exact * exact, {0, 2}));
}

Tensor variable(const Tensor& values) { return values.detach().clone().set_requires_grad(true); }

// x enters attention three times. With a variable for each, a sweep gives the derivative through
// each; with a copy of them for each of the C numbers of out_i, it gives those of all numbers.
Ways influence(const UntrainedHead& model) {
  for (const Tensor& p : model.head->parameters()) p.set_requires_grad(false);
  const Tensor& x = model.x;
  const int64_t T = x.size(0);
  const int64_t C = kHeadWidth;
  const Tensor as_key = variable(expand(x, {C, T, kWidth}));
  const Tensor as_value = variable(expand(x, {C, T, kWidth}));
  const Tensor k = model.head->key.forward(as_key);      // (C, T, d_k)
  const Tensor v = model.head->value.forward(as_value);  // (C, T, C)
  const Tensor may_attend = attention::causal_mask(T, T);
  const Tensor seed = unsqueeze(eye(C), 1);  // (C, 1, C): copy c asks for number c
  std::vector<Tensor> all, value, key, query, no_query;
  for (int64_t i = 0; i < T; ++i) {
    const Tensor as_query = variable(expand(narrow(x, 0, i, 1), {C, 1, kWidth}));
    const Tensor q = model.head->query.forward(as_query);  // (C, 1, d_k)
    const Tensor out =
        attention::scaled_dot_product_attention(q, k, v, narrow(may_attend, 0, i, 1)).output;
    const std::vector<Tensor> dx =
        grad(out, {as_value, as_key, as_query}, seed, {.retain_graph = true});
    const Tensor itself = reshape(arange(T) == static_cast<double>(i), {T, 1});
    const Tensor through_query = where(itself, dx[2], zeros({}));  // (C, T, d)
    const Tensor through_others = dx[0] + dx[1];                   // (C, T, d)
    all.push_back(norms(through_others + through_query));
    value.push_back(norms(dx[0]));
    key.push_back(norms(dx[1]));
    query.push_back(norms(through_query));
    no_query.push_back(norms(through_others));
  }
  return {stack(all), stack(value), stack(key), stack(query), stack(no_query)};
}

Tensor share_of_row(const Tensor& norms) { return norms / sum(norms, 1, true); }

// How far shares of influence are from attention: over the rows that have a choice.
struct Distance {
  double diagonal = 0;  // mean |difference|
  double below = 0;
  int64_t agree = 0;  // rows whose most attended key is the most influential, too
};

struct Influence {
  int64_t T;
  Tensor attention;  // (T, T), as the rest: float64
  Ways norms;
  Tensor share, difference;
  Distance all, no_query;
  double value_apart;                       // largest |share through values - attention|
  int64_t self_attended, self_influential;  // rows that put the token itself first
  int64_t agree_below, rows_below;          // most attended and most influential of the other keys
};

// Of row i, among keys 0 ... n - 1.
int64_t first_of(const std::vector<double>& matrix, int64_t T, int64_t i, int64_t n) {
  const auto row = matrix.begin() + i * T;
  return std::max_element(row, row + n) - row;
}

Distance distance_of(const Tensor& share, const Tensor& attention) {
  const int64_t T = share.size(0);
  const std::vector<double> a = to_doubles(attention);
  const std::vector<double> s = to_doubles(share);
  Distance d;
  for (int64_t i = 1; i < T; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const auto at = static_cast<size_t>(i * T + j);
      (j == i ? d.diagonal : d.below) += std::abs(s[at] - a[at]);
    }
    d.agree += first_of(a, T, i, i + 1) == first_of(s, T, i, i + 1) ? 1 : 0;
  }
  const auto rows = static_cast<double>(std::max<int64_t>(1, T - 1));
  d.diagonal /= rows;
  d.below /= rows * static_cast<double>(std::max<int64_t>(1, T)) / 2;
  return d;
}

Influence measure(const TextSample& sample, uint64_t seed) {
  const UntrainedHead model = untrained_head(sample, seed);
  Influence m{};
  m.T = sample.size();
  m.attention = to(head_weights(model), DType::f64);
  m.norms = influence(model);
  m.share = share_of_row(m.norms.all);
  m.difference = abs(m.share - m.attention);
  m.all = distance_of(m.share, m.attention);
  m.no_query = distance_of(share_of_row(m.norms.no_query), m.attention);
  m.value_apart = max(abs(share_of_row(m.norms.value) - m.attention)).item<double>();
  const std::vector<double> a = to_doubles(m.attention);
  const std::vector<double> s = to_doubles(m.share);
  for (int64_t i = 1; i < m.T; ++i) {
    m.self_attended += first_of(a, m.T, i, i + 1) == i ? 1 : 0;
    m.self_influential += first_of(s, m.T, i, i + 1) == i ? 1 : 0;
    if (i == 1) continue;  // one other key is no choice
    ++m.rows_below;
    m.agree_below += first_of(a, m.T, i, i) == first_of(s, m.T, i, i) ? 1 : 0;
  }
  return m;
}

std::string number(double value) { return plot::format_number(value, 3); }

std::string of(int64_t part, int64_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole);
}

// That is not masked.
double smallest_weight(const Tensor& attention) {
  return min(masked_fill(attention, attention == 0.0, 1.0)).item<double>();
}

plot::Panel draw_panels(const Influence& m, const std::vector<std::string>& labels) {
  const auto panel = [&](const Tensor& matrix, const std::string& title,
                         const std::string& caption) {
    return matrix_panel(matrix, labels, labels, title, caption);
  };
  plot::HeatmapGrid shares;
  shares.columns = 3;
  shares.panels = {panel(m.attention, "attention", "how much query i attends to key j"),
                   panel(m.share, "influence", "norm of d out_i / d x_j, as a share of its row"),
                   panel(m.difference, "how far they are apart", "|influence - attention|")};
  shares.scale = weight_scale(m.T);
  shares.scale.title = shares.scale.log ? "share of the row, logarithmic" : "share of the row";
  shares.scale.masked_label = "exactly 0";
  // Attention's own range: what is apart by less than its smallest weight is not worth a colour.
  if (shares.scale.log) shares.scale.low = std::max(1e-6, smallest_weight(m.attention));
  plot::HeatmapGrid ways;
  ways.columns = 3;
  ways.panels = {
      panel(m.norms.value, "through its value", "norm of A_ij W_v: attention times a constant"),
      panel(m.norms.key, "through its key", "it changes every weight of the row"),
      panel(m.norms.query, "through its query", "a token is query of its own output alone")};
  ways.scale.log = shares.scale.log;
  ways.scale.map = plot::ColorMap::viridis;
  ways.scale.title = ways.scale.log ? "norm, logarithmic" : "norm";
  ways.scale.masked_label = "exactly 0";
  return plot::arrange({plot::draw_heatmap_grid(shares), plot::draw_heatmap_grid(ways)}, 1);
}

Figure draw(const Influence& m, const TextSample& sample, uint64_t seed,
            const std::string& command) {
  Figure figure;
  figure.name = "influence";
  figure.caption =
      "A token moves an output through its value, its key and, where it is the query itself, its "
      "query. Through values alone its share is its attention, within " +
      plot::format_number(m.value_apart, 1) + ". Through all, the two are " +
      number(m.all.diagonal) + " apart on the diagonal and " + number(m.all.below) +
      " below it, on average; with the query held fixed " + number(m.no_query.diagonal) +
      " on the diagonal. Of the other keys the most attended one is the most influential in " +
      of(m.agree_below, m.rows_below) + " rows.";
  figure.image =
      plot::figure(draw_panels(m, sample.labels),
                   {"Is attention explanation?", sample.name + ", " + model_text(sample, seed),
                    "made by: " + command});
  const Tensor one = to(eye(m.T), DType::f64);
  figure.numbers =
      panel_table({{"attention", m.attention},
                   {"influence, as a share of its row", m.share},
                   {"how far they are apart", m.difference},
                   {"norm of d out_i / d x_j", m.norms.all},
                   {"norm through its value", m.norms.value},
                   {"norm through its key", m.norms.key},
                   {"norm through its query, j = i", sum(m.norms.query * one, 1)},
                   {"norm with the query held fixed, j = i", sum(m.norms.no_query * one, 1)}});
  for (const Tensor& matrix :
       {m.attention, m.share, m.difference, m.norms.value, m.norms.key, m.norms.query}) {
    figure.hover.push_back(hover_matrix(matrix, sample.labels, sample.labels));
  }
  return figure;
}

std::vector<Fact> facts_of(const Influence& m, double largest_above) {
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const int64_t rows = m.T - 1;
  return {{std::string("derivatives above the diagonal: ") +
               (largest_above == 0 ? "all exactly 0" : "NOT all 0"),
           {{"largest derivative above the diagonal", largest_above}}},
          {"through values alone, shares of influence are attention within " +
               plot::format_number(m.value_apart, 1),
           {{"largest |share through values - attention|", m.value_apart}}},
          {"mean |influence - attention|: " + number(m.all.diagonal) + " on the diagonal, " +
               number(m.all.below) + " below it; with the query held fixed " +
               number(m.no_query.diagonal) + " and " + number(m.no_query.below),
           {{"mean difference on the diagonal", m.all.diagonal},
            {"mean difference below the diagonal", m.all.below},
            {"mean difference on the diagonal, query held fixed", m.no_query.diagonal},
            {"mean difference below the diagonal, query held fixed", m.no_query.below}}},
          {"rows that put the token itself first: attention " + of(m.self_attended, rows) +
               ", influence " + of(m.self_influential, rows),
           {{"rows that attend most to the token itself", count(m.self_attended)},
            {"rows moved most by the token itself", count(m.self_influential)},
            {"rows with a choice", count(rows)}}},
          {"rows whose most attended key is the most influential: " + of(m.all.agree, rows) +
               "; with the query held fixed " + of(m.no_query.agree, rows) +
               "; among the keys below the diagonal " + of(m.agree_below, m.rows_below),
           {{"rows that agree", count(m.all.agree)},
            {"rows that agree, query held fixed", count(m.no_query.agree)},
            {"rows that agree below the diagonal", count(m.agree_below)},
            {"rows with a choice below the diagonal", count(m.rows_below)}}}};
}

}  // namespace

Section influence_section(const TextOptions& text, uint64_t seed, const std::string& command) {
  const TextSample sample = load_text(text);
  const Influence m = measure(sample, seed);
  const double largest_above = max(m.norms.all - tril(m.norms.all)).item<double>();
  Section section;
  section.id = "influence";
  section.title = "Is attention explanation?";
  section.claim =
      "For every pair (i, j): how strongly does input j move output i? Our own backward pass "
      "answers, through each way by which a token enters attention, and the picture sets the "
      "answer beside the attention matrix. Above the diagonal causality wants a derivative that "
      "is not small but exactly 0. Attention explains the output where, and as far as, the two "
      "agree.";
  section.facts = facts_of(m, largest_above);
  section.figures.push_back(draw(m, sample, seed, command));
  section.source = text::definition_at("engine/backward.cpp", "sweep") + "; " +
                   text::definition_at("tools/commands/influence.cpp", "influence");
  section.command = command;
  if (largest_above != 0) section.failures = {"a derivative above the diagonal is not 0"};
  return section;
}

void add_influence(Program& program) {
  add_text_section_command(program, "influence",
                           "How much each token moves each output, beside attention",
                           influence_section);
}

}  // namespace lookback::tools
