// Theorem: a statement about every subject, and how it is checked on numbers. A check that fails is
// repeated at smaller and smaller sizes: what is reported is the smallest counterexample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/theorems/checker.h"
#include "tools/theorems/subject.h"

namespace lookback::tools {

// The sizes of the operands of a check. 0: does not occur in it.
struct Sizes {
  int64_t batch = 0;   // B
  int64_t heads = 0;   // H, query heads
  int64_t tokens = 0;  // T
  int64_t width = 0;   // d, of a head
};

std::string to_string(const Sizes& sizes);  // "B 2, T 8, d 16"

// What kind of equality is claimed, and so what its residual is measured in.
enum class Equality {
  bits,         // structural: to the last bit, or exactly 0
  rounding,     // numerical: within some ulp, units in the last place
  differences,  // numerical: against finite differences, which are not exact themselves
  statistics,   // numerical: a mean over samples, within some standard errors
};

// What a theorem speaks of, and so which implementations it is checked on.
enum class Scope {
  once,       // of masks, of the checker, or of two implementations: the same for all
  attention,  // Subject::attend
  multi_head  // Subject::multi_head and decode
};

struct Theorem {
  std::string id{};         // "simplex"
  std::string statement{};  // "Rows of A are in the simplex"
  std::string operands{};   // "q, k, v (B, T, d)"
  Sizes sizes{};            // of the ledger
  Sizes least{};            // below these it says nothing, or is not true
  Equality equality = Equality::bits;
  double tolerance = 0;  // in ulp, in standard errors, or absolute for differences
  Scope scope = Scope::attention;
  std::function<void(Checker&, const Subject&, uint64_t seed, const Sizes&)> check{};
};

std::vector<Theorem> simplex_theorems();     // one row: a distribution, the right temperature
std::vector<Theorem> definition_theorems();  // the paper's equation, as loops
std::vector<Theorem> derivative_theorems();  // Jacobian, gradients, second derivatives
std::vector<Theorem> causality_theorems();   // masks, perturbation, gradient, windows
std::vector<Theorem> equality_theorems();    // two ways to the same numbers, same bits

// All of them, in the order of the ledger.
const std::vector<Theorem>& theorems();

// One check, at these sizes. An exception is a failure too: its text is the witness.
Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed,
                      const Sizes& sizes);

// At the sizes of the ledger. On failure the witness is that of the smallest counterexample: it
// begins with sizes of which none can be made smaller, the others being as they are, without the
// theorem holding.
Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed);

}  // namespace lookback::tools
