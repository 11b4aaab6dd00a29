// Loops over runs and rows, one vector at a time. Included by the Highway kernels only.
//
// A kernel writes its body once, as a lambda of `at`, the vector's place in the run: at.Load(x),
// at.Store(value, y). The last, partial vector goes through the same body with masked loads and
// stores: no element is computed by other code than its neighbours, so its bits cannot
// depend on where it stands.
//
// Vectors have a fixed size here (x86, NEON): the lanes of lane_sum.h are an array of them.
#if defined(LOOKBACK_ENGINE_KERNELS_VECTOR_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ENGINE_KERNELS_VECTOR_RUN_INL_H_
#undef LOOKBACK_ENGINE_KERNELS_VECTOR_RUN_INL_H_
#else
#define LOOKBACK_ENGINE_KERNELS_VECTOR_RUN_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/kernels/lane_sum.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::CappedTag<T, static_cast<size_t>(kLanes<T>)>;

template <class D>
inline constexpr int64_t kSize = static_cast<int64_t>(hn::MaxLanes(D()));

// AVX2 masks 4- and 8-byte lanes in hardware; elsewhere a masked access may touch what it masks.
inline constexpr bool kMaskedAccess = !HWY_MEM_OPS_MIGHT_FAULT || HWY_TARGET == HWY_AVX2;

// x[0 .. count-1], then zeros. REQUIRES: 0 < count < the lanes of d.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadPart(D d, const T* x, int64_t count) {
  if constexpr (kMaskedAccess && sizeof(T) >= 4) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(count)), d, x);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = x[i];
    return hn::Load(d, lanes);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StorePart(D d, hn::Vec<D> value, T* y, int64_t count) {
  if constexpr (kMaskedAccess) {
    hn::BlendedStore(value, hn::FirstN(d, static_cast<size_t>(count)), d, y);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(D())];
    hn::Store(value, d, lanes);
    for (int64_t i = 0; i < count; ++i) y[i] = lanes[i];
  }
}

// A full vector, at elements k, k + 1, ... of a run.
template <class D>
struct Whole {
  int64_t k;

  // Widens when the run has a narrower type than D.
  template <class T>
  HWY_INLINE hn::Vec<D> Load(const T* x) const {
    const hn::Rebind<T, D> narrow;
    const auto value = hn::LoadU(narrow, x + k);
    if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
      return value;
    } else {
      return hn::PromoteTo(D(), value);
    }
  }

  HWY_INLINE void Store(hn::Vec<D> value, hn::TFromD<D>* y) const { hn::StoreU(value, D(), y + k); }

  // True in each lane where cond is not 0.
  HWY_INLINE hn::Mask<D> LoadCondition(const uint8_t* cond) const {
    return NotZero(hn::LoadU(hn::Rebind<uint8_t, D>(), cond + k));
  }

  // What stands in the lanes beyond the run: here there are none.
  HWY_INLINE hn::Vec<D> Pad(hn::Vec<D> value, hn::Vec<D>) const { return value; }

  template <class Bytes>
  static HWY_INLINE hn::Mask<D> NotZero(Bytes bytes) {
    const hn::Rebind<uint32_t, D> wide;
    const auto words = hn::PromoteTo(wide, bytes);
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
      return hn::MaskFromVec(hn::BitCast(D(), hn::VecFromMask(wide, words != hn::Zero(wide))));
    } else {
      const hn::Rebind<uint64_t, D> wider;
      const auto longs = hn::PromoteTo(wider, words);
      return hn::MaskFromVec(hn::BitCast(D(), hn::VecFromMask(wider, longs != hn::Zero(wider))));
    }
  }
};

// The last vector of a run, of which only `count` lanes are the run's.
template <class D>
struct Part {
  int64_t k;
  int64_t count;

  template <class T>
  HWY_INLINE hn::Vec<D> Load(const T* x) const {
    const auto value = LoadPart(hn::Rebind<T, D>(), x + k, count);
    if constexpr (std::is_same_v<T, hn::TFromD<D>>) {
      return value;
    } else {
      return hn::PromoteTo(D(), value);
    }
  }

  HWY_INLINE void Store(hn::Vec<D> value, hn::TFromD<D>* y) const {
    StorePart(D(), value, y + k, count);
  }

  HWY_INLINE hn::Mask<D> LoadCondition(const uint8_t* cond) const {
    return Whole<D>::NotZero(LoadPart(hn::Rebind<uint8_t, D>(), cond + k, count));
  }

  HWY_INLINE hn::Vec<D> Pad(hn::Vec<D> value, hn::Vec<D> padding) const {
    return hn::IfThenElse(hn::FirstN(D(), static_cast<size_t>(count)), value, padding);
  }
};

// body(at) for each vector of a run of n elements.
template <class T, class Body>
HWY_INLINE void EachVector(int64_t n, Body body) {
  using D = Tag<T>;
  int64_t k = 0;
  for (; k + kSize<D> <= n; k += kSize<D>) body(Whole<D>{k});
  if (k < n) body(Part<D>{k, n - k});
}

// Folds the lanes of one vector by halves.
template <class D, class Op>
HWY_INLINE hn::TFromD<D> FoldVector(D d, hn::Vec<D> value, Op op) {
#if HWY_TARGET != HWY_SCALAR  // has one lane, and knows no halves
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return FoldVector(half, op(half, hn::LowerHalf(half, value), hn::UpperHalf(half, value)), op);
  }
#endif
  (void)d;
  (void)op;
  return hn::GetLane(value);
}

// The fixed order of lane_sum.h for any associative operation: op over f(at) for all vectors of
// the run, where `start` is what op leaves unchanged.
template <class T, int64_t kCount = kLanes<T>, class Op, class Function>
HWY_INLINE T LaneFold(int64_t n, T start, Op op, Function f) {
  using D = Tag<T>;
  constexpr D d;
  constexpr size_t kVectors = static_cast<size_t>(kCount / kSize<D>);
  const auto padding = hn::Set(d, start);
  hn::Vec<D> lanes[kVectors];
  for (auto& lane : lanes) lane = padding;
  int64_t k = 0;
  // Unrolled, the lanes stay in registers. Of the narrowest vectors there are too many.
  if constexpr (kVectors <= 8) {
    for (; k + kCount <= n; k += kCount) {
      for (size_t j = 0; j < kVectors; ++j) {
        lanes[j] = op(d, lanes[j], f(Whole<D>{k + static_cast<int64_t>(j) * kSize<D>}));
      }
    }
  }
  if constexpr (kVectors <= 4 && kMaskedAccess) {
    for (size_t j = 0; j < kVectors; ++j, k += kSize<D>) {
      if (k >= n) break;
      const Part<D> at{k, std::min(n - k, kSize<D>)};
      lanes[j] = op(d, lanes[j], at.Pad(f(at), padding));
    }
  } else if (k < n) {
    HWY_ALIGN T rest[static_cast<size_t>(kCount)];
    for (size_t j = 0; j < kVectors; ++j) hn::Store(lanes[j], d, rest + j * hn::MaxLanes(d));
    for (int64_t lane = 0; k < n; k += kSize<D>, lane = (lane + kSize<D>) % kCount) {
      const Part<D> at{k, n - k};
      const auto value = k + kSize<D> <= n ? f(Whole<D>{k}) : at.Pad(f(at), padding);
      hn::Store(op(d, hn::Load(d, rest + lane), value), d, rest + lane);
    }
    for (size_t j = 0; j < kVectors; ++j) lanes[j] = hn::Load(d, rest + j * hn::MaxLanes(d));
  }
  for (size_t half = kVectors / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) lanes[j] = op(d, lanes[j], lanes[j + half]);
  }
  return FoldVector(d, lanes[0], op);
}

struct AddOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

// The larger; of a number and a NaN, either.
struct MaxOp {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Max(a, b);
  }
};

// f(at) summed over a run, with the bits of lane_sum.
template <class T, int64_t kCount = kLanes<T>, class Function>
HWY_INLINE T LaneSum(int64_t n, Function f) {
  return LaneFold<T, kCount>(n, T{0}, AddOp(), f);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ENGINE_KERNELS_VECTOR_RUN_INL_H_
