// The ledger: every theorem on every implementation that it speaks of, a line each.
#pragma once

#include <string>
#include <vector>

#include "tools/theorems/theorem.h"

namespace lookback::tools {

// An implementation, and what to call it.
struct Path {
  std::string name;
  Subject subject;
};

// The library's: composed and fused, and each with its weights asked for.
std::vector<Path> library_paths();
// A bug of the mutation lab in the library's place. Throws std::invalid_argument, naming those that
// there are.
Path mutant_path(const std::string& name);

struct LedgerLine {
  const Theorem* theorem;
  std::string path;  // empty: the same for all
  uint64_t seed;
  Outcome outcome;
};

std::vector<LedgerLine> ledger(const std::vector<Path>& paths, uint64_t seed);

// How a line is written down.
bool structural(const Theorem& theorem);       // exact, or within a tolerance
std::string unit(const Theorem& theorem);      // of residual and tolerance: "ulp"
std::string shapes(const Theorem& theorem);    // "q, k, v (B, T, d); B 2, T 8, d 16"
std::string residual(const LedgerLine& line);  // "0 bits differ", "1.2 of 32 ulp"

}  // namespace lookback::tools
