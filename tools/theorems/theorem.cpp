#include "tools/theorems/theorem.h"

#include <array>
#include <sstream>
#include <utility>

namespace lookback::tools {
namespace {

constexpr std::array<std::pair<const char*, int64_t Sizes::*>, 4> kSizes = {
    {{"B", &Sizes::batch}, {"H", &Sizes::heads}, {"T", &Sizes::tokens}, {"d", &Sizes::width}}};

// The least size of one kind at which the theorem still fails, and fails in the same way: a
// mutant that cannot be run at all at some size is no counterexample to a wrong number.
bool shrink_one(const Theorem& theorem, const Subject& subject, uint64_t seed,
                int64_t Sizes::*which, Sizes& sizes, Outcome& failure) {
  Sizes smaller = sizes;
  for (int64_t n = theorem.least.*which; n < sizes.*which; ++n) {
    smaller.*which = n;
    const Outcome outcome = check_theorem(theorem, subject, seed, smaller);
    if (outcome.ok || outcome.threw != failure.threw) continue;
    sizes = smaller;
    failure = outcome;
    return true;
  }
  return false;
}

std::string smallest_counterexample(const Theorem& theorem, const Subject& subject, uint64_t seed,
                                    Outcome failure) {
  Sizes sizes = theorem.sizes;
  bool shrunk = true;
  while (shrunk) {
    shrunk = false;
    for (const auto& [letter, which] : kSizes) {
      shrunk = shrink_one(theorem, subject, seed, which, sizes, failure) || shrunk;
    }
  }
  const std::string at = to_string(sizes);
  return at.empty() ? failure.witness : at + ": " + failure.witness;
}

}  // namespace

std::string to_string(const Sizes& sizes) {
  std::ostringstream text;
  for (const auto& [letter, which] : kSizes) {
    if (sizes.*which == 0) continue;
    text << (text.tellp() > 0 ? ", " : "") << letter << ' ' << sizes.*which;
  }
  return text.str();
}

const std::vector<Theorem>& theorems() {
  static const std::vector<Theorem> all = [] {
    std::vector<Theorem> list;
    for (auto family : {simplex_theorems, definition_theorems, derivative_theorems,
                        causality_theorems, equality_theorems}) {
      for (Theorem& theorem : family()) list.push_back(std::move(theorem));
    }
    return list;
  }();
  return all;
}

Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed,
                      const Sizes& sizes) {
  Checker checker(subject, theorem.tolerance);
  try {
    theorem.check(checker, subject, seed, sizes);
  } catch (const std::exception& error) {
    Outcome outcome = checker.outcome();
    outcome.ok = false;
    outcome.threw = true;
    outcome.witness = std::string("throws: ") + error.what();
    return outcome;
  }
  return checker.outcome();
}

Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed) {
  Outcome outcome = check_theorem(theorem, subject, seed, theorem.sizes);
  if (!outcome.ok) outcome.witness = smallest_counterexample(theorem, subject, seed, outcome);
  return outcome;
}

}  // namespace lookback::tools
