// The one order in which the row kernels add: element k goes to lane k mod L, every lane adds in
// the order of k from +0, and the lanes are folded by halves (lane i takes lane i + half).
//
// The order depends on k alone. Zeros at the end of a row therefore change no bit of its sum, and
// every vector width (2 vectors of AVX-512, 4 of AVX2, 8 of SSE2 and NEON) gives the same bits as
// this plain loop. engine/kernels/vector_run-inl.h is its fast form.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookback::kernels {

// 128 bytes of lanes: enough independent sums to hide the latency of an addition.
template <class T>
inline constexpr int64_t kLanes = 128 / static_cast<int64_t>(sizeof(T));

// f(0) + f(1) + ... + f(n - 1), in the fixed order.
template <class T, int64_t kCount = kLanes<T>, class Function>
T lane_sum(int64_t n, Function f) {
  T lane[static_cast<size_t>(kCount)] = {};
  for (int64_t k = 0; k < n; ++k) lane[k % kCount] += f(k);
  for (int64_t half = kCount / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

}  // namespace lookback::kernels
