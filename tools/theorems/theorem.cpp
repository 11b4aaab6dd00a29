#include "tools/theorems/theorem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "engine/ops.h"

namespace lookback::tools {
namespace {

std::string at(const std::string& where, const Shape& shape, int64_t index) {
  Shape position = shape;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    position[d] = index % shape[d];
    index /= shape[d];
  }
  std::ostringstream text;
  text << where << ' ' << position << ": ";
  return text.str();
}

std::string instead(double got, double want) {
  std::ostringstream text;
  text.precision(9);
  text << got << " instead of " << want;
  return text.str();
}

}  // namespace

void Checker::fail(const std::string& witness) {
  if (outcome_.ok) outcome_.witness = witness;
  outcome_.ok = false;
}

void Checker::same_bits(const std::string& where, const Tensor& got, const Tensor& want) {
  that(got.shape() == want.shape(), where + ": the shapes differ");
  if (got.shape() != want.shape()) return;
  // Doubles hold every float exactly, so equal bits stay equal bits.
  const std::vector<double> a = got.detach().to_vector<double>();
  const std::vector<double> b = want.detach().to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    ++outcome_.compared;
    if (std::bit_cast<uint64_t>(a[i]) == std::bit_cast<uint64_t>(b[i])) continue;
    ++outcome_.differing;
    fail(at(where, got.shape(), static_cast<int64_t>(i)) + instead(a[i], b[i]));
  }
}

void Checker::close(const std::string& where, const Tensor& got, const Tensor& want,
                    double tolerance) {
  that(got.shape() == want.shape(), where + ": the shapes differ");
  if (got.shape() != want.shape()) return;
  const std::vector<double> a = got.detach().to_vector<double>();
  const std::vector<double> b = want.detach().to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    ++outcome_.compared;
    outcome_.residual = std::max(outcome_.residual, std::abs(a[i] - b[i]));
    if (!subject_.close(a[i], b[i], tolerance)) {
      fail(at(where, got.shape(), static_cast<int64_t>(i)) + instead(a[i], b[i]));
    }
  }
}

void Checker::all_zero(const std::string& where, const Tensor& got) {
  same_bits(where, abs(got.detach()), zeros(got.shape(), got.dtype()));
}

void Checker::that(bool holds, const std::string& otherwise) {
  ++outcome_.compared;
  if (holds) return;
  ++outcome_.differing;
  fail(otherwise);
}

void Checker::derivatives(const std::string& where, const GradCheckResult& result,
                          int64_t compared) {
  outcome_.compared += compared;
  outcome_.residual = std::max(outcome_.residual, result.largest_error);
  if (!result.ok) fail(where + result.message);
}

const std::vector<Theorem>& theorems() {
  static const std::vector<Theorem> all = [] {
    std::vector<Theorem> list;
    for (auto family : {simplex_theorems, causality_theorems, equality_theorems}) {
      for (Theorem& theorem : family()) list.push_back(std::move(theorem));
    }
    return list;
  }();
  return all;
}

Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed) {
  try {
    return theorem.check(subject, seed);
  } catch (const std::exception& error) {
    Outcome outcome;
    outcome.ok = false;
    outcome.witness = std::string("throws: ") + error.what();
    return outcome;
  }
}

}  // namespace lookback::tools
