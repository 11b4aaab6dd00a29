#include "attention/masks.h"

#include "engine/ops.h"

namespace lookback::attention {
namespace {

// position[j] - position[i] of key and query, (Tq, Tk): 0 on the aligned diagonal.
Tensor key_minus_query(const char* op, int64_t Tq, int64_t Tk) {
  check(Tq >= 0 && Tk >= 0, op, "sizes must not be negative; got ", Tq, " and ", Tk);
  const Tensor query = unsqueeze(arange(Tk - Tq, Tk), 1);  // (Tq, 1)
  return arange(Tk) - query;                               // (Tq, Tk)
}

}  // namespace

Tensor causal_mask(int64_t Tq, int64_t Tk) { return key_minus_query("causal_mask", Tq, Tk) <= 0.0; }

Tensor sliding_window_mask(int64_t Tq, int64_t Tk, int64_t W) {
  check(W >= 1, "sliding_window_mask", "the window must be at least 1; got ", W);
  const Tensor distance = key_minus_query("sliding_window_mask", Tq, Tk);
  return logical_and(distance <= 0.0, distance > static_cast<double>(-W));
}

}  // namespace lookback::attention
