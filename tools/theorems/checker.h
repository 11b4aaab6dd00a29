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
  double residual = 0;    // the largest difference that a tolerance was held against
  double ulp = 0;         // the same in units in the last place (Checker::close)
  int64_t differing = 0;  // numbers that had to be the same bits, or yes or no, and were not
  int64_t compared = 0;   // numbers looked at
  std::string note;       // what else was measured, for the ledger
  std::string witness;    // the first failure: "row sum of A [0, 1]: 0.341 instead of 1"
};

// `where` in messages: what is compared; the indices and both values follow.
class Checker {
 public:
  explicit Checker(const Subject& subject) : subject_(subject) {}

  void same_bits(const std::string& where, const Tensor& got, const Tensor& want);
  void all_zero(const std::string& where, const Tensor& got);
  // Residuals in ulp are counted at the largest |want|, in the precision of `got`: elements that
  // are small by cancellation carry the rounding of the large ones they came from.
  void close(const std::string& where, const Tensor& got, const Tensor& want, double tolerance);
  // A statistic that is 0 in expectation, in standard errors.
  void expectation(const std::string& where, double standard_errors, double allowed);
  // What a check of derivatives measured, over `compared` elements.
  void derivatives(const std::string& where, const GradCheckResult& result, int64_t compared);
  void that(bool holds, const std::string& otherwise);
  void note(const std::string& text) { outcome_.note = text; }
  Outcome outcome() const { return outcome_; }

 private:
  void fail(const std::string& witness);
  bool same_shape(const std::string& where, const Tensor& got, const Tensor& want);

  const Subject& subject_;
  Outcome outcome_;
};

}  // namespace lookback::tools
