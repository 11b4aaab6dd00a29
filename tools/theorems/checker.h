// Checker: compares numbers and keeps what a ledger line says of them. The comparison "within a
// tolerance" is the subject's: one mutant's lets NaN pass.
#pragma once

#include <string>

#include "engine/grad_check.h"
#include "engine/tensor.h"
#include "tools/theorems/subject.h"

namespace lookback::tools {

struct Outcome {
  bool ok = true;         // nothing failed
  bool threw = false;     // failed by an exception
  double residual = 0;    // the largest difference, in the units of the theorem's tolerance
  double difference = 0;  // the largest difference of two numbers as it is (Checker::close)
  int64_t differing = 0;  // numbers that had to be the same bits, or yes or no, and were not
  int64_t compared = 0;   // numbers looked at
  std::string note;       // what else was measured, for the ledger
  std::string witness;    // the first failure: "row sum of A [0, 1]: 0.341 instead of 1"
};

// `where` in messages: what is compared; the indices and both values follow. The tolerance is the
// theorem's, in its own units.
class Checker {
 public:
  Checker(const Subject& subject, double tolerance) : subject_(subject), tolerance_(tolerance) {}

  // Structural equalities: to the last bit; zeros of either sign.
  void same_bits(const std::string& where, const Tensor& got, const Tensor& want);
  void all_zero(const std::string& where, const Tensor& got);
  void that(bool holds, const std::string& otherwise);

  // Equal within `tolerance` ulp of the precision of `got`, counted at the largest |want|: elements
  // that are small by cancellation carry the rounding of the large ones they came from. Where all
  // of them may be, `terms` says how large those were.
  void close(const std::string& where, const Tensor& got, const Tensor& want, double terms = 0);
  // A statistic that is 0 in expectation, within `tolerance` standard errors.
  void expectation(const std::string& where, double standard_errors);
  // What a check against finite differences measured, over `compared` elements.
  void derivatives(const std::string& where, const GradCheckResult& result, int64_t compared);

  void note(const std::string& text) { outcome_.note = text; }
  double tolerance() const { return tolerance_; }
  const Outcome& outcome() const { return outcome_; }

 private:
  void fail(const std::string& witness);
  bool same_shape(const std::string& where, const Tensor& got, const Tensor& want);

  const Subject& subject_;
  double tolerance_;
  Outcome outcome_;
};

}  // namespace lookback::tools
