// Masks: boolean tensors that say which query may attend to which key; true = may attend.
#pragma once

#include "engine/tensor.h"

namespace lookback::attention {

// (Tq, Tk): query i may attend to key j iff j <= i + (Tk - Tq). Aligned at the bottom right: the
// last query sees all keys, as it must when earlier keys come from a cache.
Tensor causal_mask(int64_t Tq, int64_t Tk);

// (Tq, Tk): the causal mask cut to the last W keys, the token itself included: with p = i + Tk -
// Tq, p - W < j <= p. W = 1 leaves each token itself. (Beltagy et al. 2020.)
Tensor sliding_window_mask(int64_t Tq, int64_t Tk, int64_t W);

// Throws std::invalid_argument unless `mask` is undefined, or boolean and fits scores (..., Tq,
// Tk).
void check_mask(const char* op, const Tensor& mask, int64_t Tq, int64_t Tk);

}  // namespace lookback::attention
