// Theorem: a statement about every subject, and how it is checked on numbers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/grad_check.h"
#include "tools/theorems/subject.h"

namespace lookback::tools {

// What a check found. `ok` only if nothing failed; the witness is the first, smallest failure.
struct Outcome {
  bool ok = true;
  double residual = 0;    // the largest difference that a tolerance was held against
  int64_t differing = 0;  // numbers that had to be the same bits, or yes or no, and were not
  int64_t compared = 0;   // numbers looked at
  std::string note;       // what else was measured, for the ledger
  std::string witness;    // "row 2, key 5: 0.113 instead of 0"
};

struct Theorem {
  std::string id;         // "simplex"
  std::string statement;  // "Rows of A are in the simplex"
  std::string shapes;     // "q, k, v (2, 8, 16)"
  bool structural;        // an equality of bits, or exact zeros; otherwise within a tolerance
  double tolerance;       // 0 if structural
  bool multi_head;        // speaks of multi_head or decode, and so of each of their paths
  std::function<Outcome(const Subject&, uint64_t seed)> check;
};

// A theorem checked on one subject. An exception is a failure too: its text is the witness.
struct Verdict {
  const Theorem* theorem;
  Outcome outcome;
};

std::vector<Theorem> simplex_theorems();    // distributions, scale, Jacobian
std::vector<Theorem> causality_theorems();  // masks, perturbation, gradient, windows
std::vector<Theorem> equality_theorems();   // two ways to the same numbers, same bits

// All of them, in the order of the ledger.
const std::vector<Theorem>& theorems();

Outcome check_theorem(const Theorem& theorem, const Subject& subject, uint64_t seed);

// Collects comparisons into an Outcome. `where` in messages: what is compared, indices follow.
class Checker {
 public:
  explicit Checker(const Subject& subject) : subject_(subject) {}

  void same_bits(const std::string& where, const Tensor& got, const Tensor& want);
  void close(const std::string& where, const Tensor& got, const Tensor& want, double tolerance);
  void all_zero(const std::string& where, const Tensor& got);
  // What a check of derivatives measured, over `compared` elements.
  void derivatives(const std::string& where, const GradCheckResult& result, int64_t compared);
  void note(const std::string& text) { outcome_.note = text; }
  void that(bool holds, const std::string& otherwise);
  Outcome outcome() const { return outcome_; }

 private:
  void fail(const std::string& witness);

  const Subject& subject_;
  Outcome outcome_;
};

}  // namespace lookback::tools
