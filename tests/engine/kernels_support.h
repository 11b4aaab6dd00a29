// What the tests of the kernels share: inputs, comparison of bits and of ulps, SIMD targets and
// thread counts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "engine/kernels/threads.h"

#ifndef LOOKBACK_REFERENCE_KERNELS
#include <hwy/highway.h>
#endif

namespace lookback::kernels {

using Floats = ::testing::Types<float, double>;

// Around every vector and lane count: empty, tails of all kinds, more than one chunk of lanes.
inline const std::vector<int64_t> kSizes = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15,  16,
                                            17, 31, 32, 33, 63, 64, 65, 100, 257, 1000};

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

// In [0, 1), to all the bits of a double. The numbers come from the raw bits, the same with every
// library.
inline double unit_value(std::mt19937_64& bits) {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

// Values in [low, high) with every bit of T in use, so that sums of them round.
template <class T>
std::vector<T> random_values(int64_t n, T low, T high, uint64_t seed = 1) {
  std::mt19937_64 bits(seed);
  const T last = std::nextafter(high, low);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) {
    const double width = static_cast<double>(high) - static_cast<double>(low);
    value = std::min(last, static_cast<T>(static_cast<double>(low) + width * unit_value(bits)));
  }
  return values;
}

// A (rows, n) array whose sums down the columns tell the order of addition, even after they were
// carried in double and rounded to float. The lower half of the rows takes away, in another order,
// what the upper half added, over forty binary orders of magnitude: next to nothing is left but
// the rounding of each addition. With n = 1: a run.
template <class T>
std::vector<T> values_that_cancel(int64_t rows, int64_t n, uint64_t seed = 1) {
  std::mt19937_64 bits(seed);
  const int64_t half = rows / 2;
  std::vector<T> values(static_cast<size_t>(rows * n));
  for (T& value : values) {
    const double mantissa = 2 * unit_value(bits) - 1;
    value = static_cast<T>(std::ldexp(mantissa, static_cast<int>(bits() % 40) - 20));
  }
  std::vector<int64_t> order(static_cast<size_t>(half));
  for (size_t r = 0; r < order.size(); ++r) {
    order[r] = static_cast<int64_t>(r);
    std::swap(order[r], order[bits() % (r + 1)]);
  }
  for (int64_t r = 0; r < half; ++r) {
    for (int64_t k = 0; k < n; ++k) {
      values[static_cast<size_t>((rows - half + r) * n + k)] =
          -values[static_cast<size_t>(order[static_cast<size_t>(r)] * n + k)];
    }
  }
  return values;
}

// Whether the bits agree; one NaN is as good as another.
template <class T>
bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return (a != a && b != b) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class T>
::testing::AssertionResult all_same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "the sizes differ";
  for (size_t i = 0; i < a.size(); ++i) {
    if (same_bits(a[i], b[i])) continue;
    return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
  }
  return ::testing::AssertionSuccess();
}

// The error of `got` in units in the last place of T at `want`; infinite for a wrong NaN or
// infinity.
template <class T>
double ulp_error(T got, long double want) {
  if (std::isnan(want) || std::isnan(got)) {
    return std::isnan(want) && std::isnan(got) ? 0 : kInfinity<double>;
  }
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : kInfinity<double>;
  int exponent = 0;
  std::frexp(want, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

// |a - b| within `tolerance` of max(1, |b|), NaN only beside NaN, infinities equal.
template <class T>
::testing::AssertionResult all_near(const std::vector<T>& a, const std::vector<T>& b,
                                    double tolerance) {
  if (a.size() != b.size()) return ::testing::AssertionFailure() << "the sizes differ";
  for (size_t i = 0; i < a.size(); ++i) {
    if (same_bits(a[i], b[i])) continue;
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    const double size = std::max(1.0, std::fabs(static_cast<double>(b[i])));
    if (!(difference <= tolerance * size)) {
      return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

// Calls body() with each SIMD target that is compiled in and that this machine can run.
template <class Body>
void on_each_target(Body body) {
#ifdef LOOKBACK_REFERENCE_KERNELS
  body();
#else
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
#endif
}

// Calls body() with 1, 2, 3 and 8 threads.
template <class Body>
void with_each_thread_count(Body body) {
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(threads);
    set_num_threads(threads);
    body();
  }
  set_num_threads(before);
}

}  // namespace lookback::kernels
