// Measuring a matrix and its turned copies, and the rule that names it.
#include "tools/commands/families.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/random.h"
#include "tools/report/section.h"

namespace lookback::tools {
namespace {

// Where the rows put their mass.
struct Placement {
  double agreement = 0;
  double distance = 0;
};

// Row i is read as if turned by turns[i]: its key j stands where key (j + turns[i]) mod (i + 1) is.
// Of two rows, A_i . A_k is the probability that both draw the same key. Over all pairs,
//   agreement = (sum A_i . A_k - expected) / (sum |A_i| |A_k| - expected),
// where two independent rows i < k share 1 / (k + 1) on average, whatever their sharpness.
Placement placement(const std::vector<double>& A, const std::vector<int64_t>& turns) {
  const auto T = static_cast<int64_t>(turns.size());
  std::vector<double> column(turns.size(), 0.0);
  double squares = 0, lengths = 0, possible = 0, expected = 0, distance = 0;
  for (int64_t i = 1; i < T; ++i) {
    const double* row = A.data() + i * T;
    double square = 0, mean_distance = 0;
    int64_t at = turns[static_cast<size_t>(i)];
    for (int64_t j = 0; j <= i; ++j) {
      column[static_cast<size_t>(at)] += row[j];
      square += row[j] * row[j];
      mean_distance += row[j] * static_cast<double>(i - at);
      if (++at > i) at = 0;
    }
    distance += mean_distance / (static_cast<double>(i) / 2);
    squares += square;
    possible += lengths * std::sqrt(square);
    lengths += std::sqrt(square);
    expected += static_cast<double>(i - 1) / static_cast<double>(i + 1);
  }
  double both = 0;  // the overlaps, each twice, and the squares
  for (const double mass : column) both += mass * mass;
  Placement result;
  result.distance = distance / static_cast<double>(std::max<int64_t>(1, T - 1));
  if (T > 2) result.agreement = ((both - squares) / 2 - expected) / (possible - expected);
  return result;
}

// Both ends of what the turned copies give.
Placement extremes(const std::vector<double>& A, int64_t T) {
  Generator generator(1);
  Placement most{-1e300, 1e300};
  std::vector<int64_t> turns(static_cast<size_t>(T), 0);
  for (int copy = 0; copy < kTurnedCopies; ++copy) {
    for (int64_t i = 1; i < T; ++i) {
      turns[static_cast<size_t>(i)] = generator.next_below(i + 1);
    }
    const Placement chance = placement(A, turns);
    most.agreement = std::max(most.agreement, chance.agreement);
    most.distance = std::min(most.distance, chance.distance);
  }
  return most;
}

// The first that fits.
std::string name_of(const Family& f, const Placement& chance) {
  if (f.distance < kShortDistance && f.distance < chance.distance) return "diagonal-hugging";
  if (f.spread > kEvenSpread) return "near-uniform";
  if (f.agreement > kStrongAgreement && f.agreement > chance.agreement) return "column-collapse";
  return "none of these";
}

}  // namespace

Family family_of(const Tensor& weights) {
  const int64_t T = weights.size(0);
  const std::vector<double> A = to_doubles(weights);
  Family f;
  const double rows = static_cast<double>(std::max<int64_t>(1, T - 1));
  for (int64_t i = 1; i < T; ++i) {
    double entropy = 0;
    for (int64_t j = 0; j <= i; ++j) {
      const double p = A[static_cast<size_t>(i * T + j)];
      if (p > 0) entropy -= p * std::log(p);
    }
    f.entropy += entropy / std::log(static_cast<double>(i + 1)) / rows;
    f.spread += (std::exp(entropy) - 1) / static_cast<double>(i) / rows;
    f.first_column += A[static_cast<size_t>(i * T)] * static_cast<double>(i + 1) / rows;
  }
  const Placement measured = placement(A, std::vector<int64_t>(static_cast<size_t>(T), 0));
  f.agreement = measured.agreement;
  f.distance = measured.distance;
  f.name = T > 1 ? name_of(f, extremes(A, T)) : "one token";
  return f;
}

}  // namespace lookback::tools
