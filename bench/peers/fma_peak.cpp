// What the processor can do at most: multiply-adds on registers, nothing loaded, nothing waited
// for.
//
//   for n in repeats
//     for r in 24 registers        acc[r] = fma(x, y, acc[r])
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/peers/fma_peak.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace lookback::peers::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many sums as keep both fma units busy, and as the registers hold.
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr size_t kSums = 24;
#else
constexpr size_t kSums = 12;
#endif

// Returns a number made of all sums, so that none is left out; *flops: how many were done.
float MultiplyAdds(int64_t repeats, double* flops) {
  const hn::ScalableTag<float> d;
  const auto x = hn::Set(d, 0.5F);
  const auto y = hn::Set(d, 0.25F);
  hn::Vec<decltype(d)> acc[kSums];
  for (size_t r = 0; r < kSums; ++r) acc[r] = hn::Set(d, static_cast<float>(r));
  for (int64_t n = 0; n < repeats; ++n) {
    HWY_UNROLL(24)
    for (size_t r = 0; r < kSums; ++r) acc[r] = hn::MulAdd(acc[r], x, y);
  }
  for (size_t r = 1; r < kSums; ++r) acc[0] = hn::Add(acc[0], acc[r]);
  *flops = 2.0 * static_cast<double>(repeats) * static_cast<double>(kSums * hn::Lanes(d));
  return hn::GetLane(acc[0]);
}

}  // namespace lookback::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <chrono>

#include "bench/peers/measure.h"

namespace lookback::peers {

HWY_EXPORT(MultiplyAdds);

double fma_peak() {
  double best = 0;
  volatile float keep = 0;
  for (int sample = 0; sample < 40; ++sample) {
    double flops = 0;
    const auto run = [&] { keep = keep + HWY_DYNAMIC_DISPATCH(MultiplyAdds)(200000, &flops); };
    const double seconds = seconds_of(run, 1);
    best = std::max(best, flops / seconds);
  }
  return best;
}

}  // namespace lookback::peers
#endif  // HWY_ONCE
