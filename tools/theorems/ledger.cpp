#include "tools/theorems/ledger.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/plot/axis.h"

namespace lookback::tools {
namespace {

// Asking for weights is an option of multi-head attention alone.
size_t paths_of(const Theorem& theorem, size_t all) {
  switch (theorem.scope) {
    case Scope::once:
      return 1;
    case Scope::attention:
      return std::min<size_t>(2, all);
    case Scope::multi_head:
      break;
  }
  return all;
}

}  // namespace

std::vector<Path> library_paths() {
  return {{"composed", library_subject(false)},
          {"fused", library_subject(true)},
          {"composed, weights asked for", library_subject(false, true)},
          {"fused, weights asked for", library_subject(true, true)}};
}

Path mutant_path(const std::string& name) {
  std::string names;
  for (Subject& subject : mutants()) {
    if (subject.name == name) return {"mutant: " + name, std::move(subject)};
    names += (names.empty() ? "'" : ", '") + subject.name + "'";
  }
  throw std::invalid_argument("there is no mutant '" + name + "'; there are " + names);
}

std::vector<LedgerLine> ledger(const std::vector<Path>& paths, uint64_t seed) {
  std::vector<LedgerLine> lines;
  for (const Theorem& theorem : theorems()) {
    for (size_t i = 0; i < paths_of(theorem, paths.size()); ++i) {
      const bool same_for_all = theorem.scope == Scope::once && paths.size() > 1;
      lines.push_back({&theorem, same_for_all ? "" : paths[i].name, seed,
                       check_theorem(theorem, paths[i].subject, seed)});
    }
  }
  return lines;
}

bool structural(const Theorem& theorem) { return theorem.equality == Equality::bits; }

std::string unit(const Theorem& theorem) {
  switch (theorem.equality) {
    case Equality::bits:
      return "bits";
    case Equality::rounding:
      return "ulp";
    case Equality::statistics:
      return "standard errors";
    case Equality::differences:
      break;
  }
  return "absolute";
}

std::string shapes(const Theorem& theorem) {
  const std::string sizes = to_string(theorem.sizes);
  return theorem.operands + (sizes.empty() ? "" : "; " + sizes);
}

std::string residual(const LedgerLine& line) {
  if (structural(*line.theorem)) {
    return line.outcome.differing == 0 ? "0 bits"
                                       : std::to_string(line.outcome.differing) + " differ";
  }
  const std::string allowed = plot::format_number(line.theorem->tolerance, 2);
  const std::string words =
      line.theorem->equality == Equality::differences ? "" : " " + unit(*line.theorem);
  return plot::format_number(line.outcome.residual, 2) + " of " + allowed + words;
}

}  // namespace lookback::tools
