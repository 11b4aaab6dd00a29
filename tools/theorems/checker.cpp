#include "tools/theorems/checker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "engine/ops.h"
#include "tools/plot/csv.h"

namespace lookback::tools {
namespace {

// "row sum of A [0, 1]: 0.34147158 instead of 1", with all digits that the precision has.
std::string difference_at(const std::string& where, const Tensor& like, size_t index, double got,
                          double want) {
  Shape position = like.shape();
  auto rest = static_cast<int64_t>(index);
  for (int64_t d = position.rank() - 1; d >= 0; --d) {
    position[d] = rest % like.size(d);
    rest /= like.size(d);
  }
  const auto digits = [&](double x) {
    return like.dtype() == DType::f32 ? plot::exact(static_cast<float>(x)) : plot::exact(x);
  };
  std::ostringstream text;
  text << where << ' ' << position << ": " << digits(got) << " instead of " << digits(want);
  return text.str();
}

// The distance from |x| to the next larger number of the precision.
double ulp_of(double x, DType dtype) {
  if (dtype == DType::f32) {
    const float y = std::abs(static_cast<float>(x));
    return std::nextafter(y, std::numeric_limits<float>::infinity()) - y;
  }
  const double y = std::abs(x);
  return std::nextafter(y, std::numeric_limits<double>::infinity()) - y;
}

}  // namespace

void Checker::fail(const std::string& witness) {
  if (outcome_.ok) outcome_.witness = witness;
  outcome_.ok = false;
}

bool Checker::same_shape(const std::string& where, const Tensor& got, const Tensor& want) {
  std::ostringstream text;
  text << where << ": shape " << got.shape() << " instead of " << want.shape();
  that(got.shape() == want.shape(), text.str());
  return got.shape() == want.shape();
}

void Checker::same_bits(const std::string& where, const Tensor& got, const Tensor& want) {
  if (!same_shape(where, got, want)) return;
  // Doubles hold every float exactly, so equal bits stay equal bits.
  const std::vector<double> a = got.detach().to_vector<double>();
  const std::vector<double> b = want.detach().to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    ++outcome_.compared;
    if (std::bit_cast<uint64_t>(a[i]) == std::bit_cast<uint64_t>(b[i])) continue;
    ++outcome_.differing;
    if (outcome_.ok) fail(difference_at(where, got, i, a[i], b[i]));
  }
}

void Checker::all_zero(const std::string& where, const Tensor& got) {
  same_bits(where, abs(got.detach()), zeros(got.shape(), got.dtype()));
}

void Checker::close(const std::string& where, const Tensor& got, const Tensor& want, double terms) {
  if (!same_shape(where, got, want)) return;
  const std::vector<double> a = got.detach().to_vector<double>();
  const std::vector<double> b = want.detach().to_vector<double>();
  double largest = terms;
  for (const double x : b) largest = std::max(largest, std::abs(x));
  const double ulp = ulp_of(largest, got.dtype());
  for (size_t i = 0; i < a.size(); ++i) {
    ++outcome_.compared;
    const double difference = std::abs(a[i] - b[i]);
    outcome_.difference = std::max(outcome_.difference, difference);
    outcome_.residual = std::max(outcome_.residual, difference / ulp);
    if (!subject_.close(a[i], b[i], tolerance_ * ulp)) {
      if (outcome_.ok) fail(difference_at(where, got, i, a[i], b[i]));
    }
  }
}

void Checker::expectation(const std::string& where, double standard_errors) {
  ++outcome_.compared;
  outcome_.residual = std::max(outcome_.residual, std::abs(standard_errors));
  if (subject_.close(standard_errors, 0.0, tolerance_)) return;
  std::ostringstream text;
  text.precision(3);
  text << where << ", " << standard_errors << " standard errors away";
  fail(text.str());
}

void Checker::derivatives(const std::string& where, const GradCheckResult& result,
                          int64_t compared) {
  outcome_.compared += compared;
  outcome_.residual = std::max(outcome_.residual, result.largest_error);
  if (!result.ok) fail(where + result.message);
}

void Checker::that(bool holds, const std::string& otherwise) {
  ++outcome_.compared;
  if (holds) return;
  ++outcome_.differing;
  fail(otherwise);
}

}  // namespace lookback::tools
