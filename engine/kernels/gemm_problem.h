// What gemm.cpp and the five loops share: one product as a struct, block sizes, the workspace.
#pragma once

#include <cstdint>

#include "engine/kernels/gemm.h"

namespace lookback::kernels {

template <class T>
struct GemmProblem {
  int64_t M, N, K;
  Matrix<T> A, B;
  T* C;
  int64_t ldc;
  bool accumulate;
};

// A packed strip of A is at most 12 x kBlockDepth: 24 KiB, within an L1 cache of 32 KiB.
// A packed block of B is kBlockDepth x kBlockColumns: 2 MiB, streamed from the L2 or L3 cache.
template <class T>
inline constexpr int64_t kBlockDepth = 2048 / sizeof(T);
inline constexpr int64_t kBlockColumns = 1024;
inline constexpr int64_t kMaxTileRows = 12;

// Memory for one packed strip of A and one packed block of B.
template <class T>
struct GemmWorkspace {
  T* a = nullptr;
  T* b = nullptr;
};

// This thread's own, aligned for vectors; allocated by the first of its products that packs.
template <class T>
GemmWorkspace<T> gemm_workspace();

}  // namespace lookback::kernels
