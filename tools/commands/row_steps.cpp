// From dot product to weight, every step by the op that attention uses for it.
#include "tools/commands/row_steps.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"

namespace lookback::tools {
namespace {

std::string short_number(double value) { return plot::format_number(value, 5); }

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

// The shortest decimal that gives the float32 back.
std::string exact(double value) { return plot::exact(static_cast<float>(value)); }

// What happened to one key's score, the numbers as `write` writes them.
template <class Write>
std::vector<std::string> steps_of_key(const RowSteps& s, int64_t j, const Write& write) {
  const auto at = [&](const Tensor& x) { return select(x, 0, j).item<double>(); };
  return {write(at(s.raw)),     write(at(s.scaled)),       write(at(s.masked)),
          write(at(s.shifted)), write(at(s.exponentials)), exact(at(s.weights)),
          hex(at(s.weights)),   write(at(s.slope))};
}

const std::vector<std::string> kStepNames = {"q.k", "scaled", "masked",       "minus max",
                                             "exp", "weight", "weight (hex)", "d w_top / d score"};

// The keys whose terms are listed: all that the query sees; if they are many, the heaviest.
std::vector<int64_t> listed_keys(const RowSteps& s) {
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

}  // namespace

double jacobian_norm(const Tensor& p) {
  const Tensor J = eye(p.numel(), p.dtype()) * p - unsqueeze(p, 1) * unsqueeze(p, 0);
  return std::sqrt(sum(J * J).item<double>());
}

RowSteps steps_of(const UntrainedHead& model, int64_t i) {
  const int64_t T = model.x.size(0);
  RowSteps s;
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

JacobianCurve curve_of(const RowSteps& s) {
  const Tensor seen = to(narrow(s.raw, 0, 0, s.query + 1), DType::f64);
  JacobianCurve curve;
  curve.deviation = std::sqrt(var(seen, {}, false, 0).item<double>());
  curve.scale = 1.0 / std::sqrt(static_cast<double>(s.q.numel()));
  for (int step = -48; step <= 48; ++step) {
    curve.factors.push_back(std::exp2(step / 8.0));
    curve.norms.push_back(jacobian_norm(softmax(seen * curve.factors.back(), -1)));
    if (curve.norms.back() <= curve.peak) continue;
    curve.peak = curve.norms.back();
    curve.peak_factor = curve.factors.back();
  }
  return curve;
}

Table step_table(const RowSteps& s, const TextSample& sample) {
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

Table term_table(const RowSteps& s, const TextSample& sample) {
  const std::vector<int64_t> keys = listed_keys(s);
  const bool all = static_cast<int64_t>(keys.size()) == s.query + 1;
  Table table;
  table.name = "terms";
  table.title = "The terms q_c k_c of each score" +
                (all ? std::string()
                     : ", for the " + std::to_string(keys.size()) +
                           " keys of largest weight (those of all are in the figure's CSV)");
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

Table all_numbers(const RowSteps& s, const TextSample& sample) {
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

Table curve_table(const JacobianCurve& curve) {
  Table table;
  table.name = "curve";
  table.header = {"factor c", "norm of diag(p) - p p^T for scores c q.k"};
  for (size_t n = 0; n < curve.factors.size(); ++n) {
    table.rows.push_back({plot::exact(curve.factors[n]), plot::exact(curve.norms[n])});
  }
  return table;
}

}  // namespace lookback::tools
