// Strided loops for the ops: a broadcast loop over several operands is cut into runs along the
// last dimension, and a kernel is called for each run. Knows no op.
#pragma once

#include <array>

#include "engine/kernels/threads.h"
#include "engine/shape.h"

namespace lookback::loops {

// Fewer elements than this are not worth a second thread.
inline constexpr int64_t kGrain = 32768;

// The loop nest over `shape` for N operands, each with its own strides, made as short as it can
// be: sizes 1 are dropped, neighbours that are one block in every operand are merged.
template <size_t N>
struct Nest {
  Shape shape;
  std::array<Strides, N> strides;

  Nest(const Shape& full_shape, const std::array<Strides, N>& full_strides) {
    for (int64_t d = 0; d < full_shape.rank(); ++d) {
      if (full_shape[d] != 1) append(full_shape[d], full_strides, d);
    }
    if (shape.rank() == 0) {
      shape.push_back(1);
      for (Strides& s : strides) s.push_back(0);
    }
  }

 private:
  void append(int64_t size, const std::array<Strides, N>& from, int64_t d) {
    const int64_t last = shape.rank() - 1;
    bool one_block = last >= 0;
    for (size_t n = 0; n < N && one_block; ++n) {
      one_block = strides[n][last] == from[n][d] * size;
    }
    if (!one_block) {
      shape.push_back(size);
      for (size_t n = 0; n < N; ++n) strides[n].push_back(from[n][d]);
      return;
    }
    shape[last] *= size;
    for (size_t n = 0; n < N; ++n) strides[n][last] = from[n][d];
  }
};

// Calls run(offsets, count, steps) for every run of the nest: operand n's elements are at
// offsets[n], offsets[n] + steps[n], ... Runs are spread over threads; each element is in
// exactly one.
template <size_t N, class Run>
void for_each_run(const Shape& full_shape, const std::array<Strides, N>& full_strides,
                  const Run& run) {
  if (full_shape.numel() == 0) return;
  const Nest<N> nest(full_shape, full_strides);
  const int64_t inner = nest.shape.rank() - 1;
  const int64_t count = nest.shape[inner];
  std::array<int64_t, N> steps;
  for (size_t n = 0; n < N; ++n) steps[n] = nest.strides[n][inner];

  if (inner == 0) {
    kernels::parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      std::array<int64_t, N> offsets;
      for (size_t n = 0; n < N; ++n) offsets[n] = begin * steps[n];
      run(offsets, end - begin, steps);
    });
    return;
  }
  const int64_t runs = nest.shape.numel() / count;
  kernels::parallel_for(runs, std::max<int64_t>(1, kGrain / count),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t index = begin; index < end; ++index) {
                            std::array<int64_t, N> offsets{};
                            int64_t rest = index;
                            for (int64_t d = inner - 1; d >= 0; --d) {
                              const int64_t coordinate = rest % nest.shape[d];
                              rest /= nest.shape[d];
                              for (size_t n = 0; n < N; ++n)
                                offsets[n] += coordinate * nest.strides[n][d];
                            }
                            run(offsets, count, steps);
                          }
                        });
}

}  // namespace lookback::loops
