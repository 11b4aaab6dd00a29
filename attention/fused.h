// Fused attention: the same function as scaled_dot_product_attention, block by block, without
// ever building the T x T matrix (Dao et al. 2022).
#pragma once

#include "engine/ops.h"

namespace lookback::attention {

// scale, causal, window: see engine/ops.h.
using FusedOptions = BlockwiseOptions;

// q (B, H, Tq, d_k), k (B, H_kv, Tk, d_k), v (B, H_kv, Tk, d_v), H a multiple of H_kv: kv head g
// serves query heads g r ... g r + r - 1. Three dimensions stand for H = 1, two for B = H = 1.
// mask: boolean, true = may attend, broadcasts to (B, H, Tq, Tk), or to (B, Tq, Tk) if q has three
// dimensions; beside causal and window.
// Returns (B, H, Tq, d_v), with as many dimensions as q has.
//
// A masked key is never read: a NaN or infinity in the future cannot leak. Memory beside the
// inputs is O(T), forward and backward; only a gradient of a gradient builds T x T matrices.
Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {},
                       FusedOptions options = {});

}  // namespace lookback::attention
