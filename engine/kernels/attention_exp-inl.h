// exp(x) for x <= 0, as softmax needs it: a vector at a time, NaN stays NaN. About one ulp near 0;
// the relative error grows with |x| (in double 16 ulp at -95; without fma instructions 300 at -282)
// and matters the less: beside the row's largest weight, which is 1, it is far below an ulp.
//
//   x = q ln 2 + r with |r| <= ln(2) / 2;   exp(x) = 2^q (1 + r + r^2 (c0 + c1 r + ...))
//
// Below the logarithm of the smallest normal number the result is exactly 0; so exp(-infinity)
// is 0. The polynomials are minimax for the relative error (float 3e-9, double 2e-17).
//
// Included once per SIMD target, hence the unusual guard.
#if defined(LOOKBACK_ATTENTION_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ATTENTION_EXP_INL_H_
#undef LOOKBACK_ATTENTION_EXP_INL_H_
#else
#define LOOKBACK_ATTENTION_EXP_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// exp(r) for |r| <= ln(2) / 2, by Horner's rule.
template <class D, class V>
HWY_INLINE V exp_polynomial(D d, V r, float /*element*/) {
  V p = hn::Set(d, 0.0013814467238262296f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.008368780836462975f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166839271783829f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.1666651964187622f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.4999999403953552f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::MulAdd(p, r, hn::Set(d, 1.0f));
}

template <class D, class V>
HWY_INLINE V exp_polynomial(D d, V r, double /*element*/) {
  V p = hn::Set(d, 2.5100424157005067e-08);
  p = hn::MulAdd(p, r, hn::Set(d, 2.7620138719733994e-07));
  p = hn::MulAdd(p, r, hn::Set(d, 2.7557268378684192e-06));
  p = hn::MulAdd(p, r, hn::Set(d, 2.480152119021773e-05));
  p = hn::MulAdd(p, r, hn::Set(d, 0.00019841269863105968));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013888888917281794));
  p = hn::MulAdd(p, r, hn::Set(d, 0.008333333333330051));
  p = hn::MulAdd(p, r, hn::Set(d, 0.04166666666662399));
  p = hn::MulAdd(p, r, hn::Set(d, 0.16666666666666669));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0));
  return hn::MulAdd(p, r, hn::Set(d, 1.0));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kFloat = sizeof(T) == 4;
  const hn::RebindToUnsigned<D> du;
  // 1.5 * 2^(mantissa bits) rounds what is added to it to an integer; the exponent's bias goes
  // along, so that the low bits are those of 2^q once they are shifted into place.
  constexpr int kMantissa = kFloat ? 23 : 52;
  const V magic = hn::Set(
      d, kFloat ? static_cast<T>(12582912.0 + 127.0) : static_cast<T>(6755399441055744.0 + 1023.0));
  const V shifted = hn::MulAdd(x, hn::Set(d, static_cast<T>(1.4426950408889634)), magic);
  const V power = hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::BitCast(du, shifted)));
  // One constant for ln 2 is enough: its rounding weighs less than that of x itself.
  const V q = hn::Sub(shifted, magic);
  const V r = hn::NegMulAdd(q, hn::Set(d, static_cast<T>(0.6931471805599453)), x);
  const V y = hn::Mul(exp_polynomial(d, r, T{}), power);
  const V smallest = hn::Set(d, static_cast<T>(kFloat ? -87.33654 : -708.3964));
  return hn::IfThenZeroElse(hn::Lt(x, smallest), y);
}

}  // namespace HWY_NAMESPACE
}  // namespace lookback::kernels
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ATTENTION_EXP_INL_H_
