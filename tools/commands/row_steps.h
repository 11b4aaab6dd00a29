// What happens to one query's row of scores, as numbers and tables. For row.cpp.
#pragma once

#include <string>
#include <vector>

#include "tools/commands/untrained.h"
#include "tools/report/section.h"

namespace lookback::tools {

// Everything that happens to one row of scores, in order; each (T) but for `terms`.
struct RowSteps {
  int64_t query;
  Tensor q;             // (d_k)
  Tensor terms;         // (T, d_k): q_c k_c, for every key
  Tensor raw;           // q . k
  Tensor scaled;        // by 1 / sqrt(d_k)
  Tensor masked;        // -infinity after the query
  double largest;       // of `masked`
  Tensor shifted;       // masked - largest
  Tensor exponentials;  // exp(shifted)
  Tensor weights;       // softmax(masked)
  Tensor unscaled;      // weights without the scale
  int64_t top;          // the key of the largest weight
  Tensor slope;         // d weights[top] / d masked
};

RowSteps steps_of(const UntrainedHead& model, int64_t query);

// The Frobenius norm of softmax's Jacobian diag(p) - p p^T.
double jacobian_norm(const Tensor& p);

// What the scale is for: the norm of softmax's Jacobian against the factor that q.k is given.
struct JacobianCurve {
  std::vector<double> factors, norms;
  double peak_factor = 0;
  double peak = 0;
  double deviation = 0;  // of q.k over the keys that the query sees
  double scale = 0;      // 1 / sqrt(d_k)
};

JacobianCurve curve_of(const RowSteps& s);

// A line per key: what each channel adds to q . k; of long rows the heaviest keys.
Table term_table(const RowSteps& s, const TextSample& sample);
// A line per key, from score to weight.
Table step_table(const RowSteps& s, const TextSample& sample);
// Every number of both tables, in full, and the weights without the scale.
Table all_numbers(const RowSteps& s, const TextSample& sample);
Table curve_table(const JacobianCurve& curve);

}  // namespace lookback::tools
