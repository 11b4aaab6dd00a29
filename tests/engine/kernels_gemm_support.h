// What the tests of gemm and of gemm_batched share.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "engine/kernels/gemm.h"

namespace lookback::kernels {

// Uniform in [-1, 1).
template <class T>
std::vector<T> random_values(int64_t count, unsigned seed) {
  std::mt19937 bits(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) v = static_cast<T>(bits()) / static_cast<T>(1u << 31) - T{1};
  return values;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// A dense operand: as stored, or the transpose of what is stored.
template <class T>
Matrix<T> view(const std::vector<T>& data, int64_t rows, int64_t columns, bool transpose) {
  return transpose ? Matrix<T>{data.data(), 1, rows} : Matrix<T>{data.data(), columns, 1};
}

}  // namespace lookback::kernels
