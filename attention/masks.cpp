#include "attention/masks.h"

#include <algorithm>

#include "engine/ops.h"

namespace lookback::attention {
namespace {

void check_sizes(const char* op, int64_t Tq, int64_t Tk) {
  check(Tq >= 0 && Tk >= 0, op, "sizes must not be negative; got ", Tq, " and ", Tk);
  check(Tq <= kMaxElements / std::max<int64_t>(Tk, 1), op, "too many elements; got ", Tq, " by ",
        Tk);
}

// The positions of the queries, (Tq, 1): the last one stands at the last key.
Tensor query_positions(int64_t Tq, int64_t Tk) { return unsqueeze(arange(Tk - Tq, Tk), 1); }

}  // namespace

Tensor causal_mask(int64_t Tq, int64_t Tk) {
  check_sizes("causal_mask", Tq, Tk);
  return query_positions(Tq, Tk) >= arange(Tk);
}

Tensor sliding_window_mask(int64_t Tq, int64_t Tk, int64_t W) {
  check(W >= 1, "sliding_window_mask", "the window must be at least 1; got ", W);
  check_sizes("sliding_window_mask", Tq, Tk);
  const Tensor query = query_positions(Tq, Tk);  // (Tq, 1)
  const Tensor key = arange(Tk);                 // (Tk)
  const Tensor too_early = query >= key + static_cast<double>(W);
  return logical_and(query >= key, !too_early);
}

void check_mask(const char* op, const Tensor& mask, int64_t Tq, int64_t Tk) {
  if (!mask.defined()) return;
  check(mask.dtype() == DType::boolean, op, "the mask must be boolean, true = may attend; got ",
        mask.dtype());
  const Shape scores = {Tq, Tk};
  check(can_broadcast(mask.shape(), scores), op, "the mask must broadcast to (..., Tq, Tk), here ",
        scores, "; got ", mask.shape());
}

}  // namespace lookback::attention
