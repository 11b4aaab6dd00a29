// exp, log, tanh, sigmoid and the normal law for one vector of float or double. Included by the
// Highway kernels only. No table, no branch; accuracy is measured in the tests of unary and gelu.
//
// Polynomials without a source are the Taylor series; "minimax" ones were fitted by a Remez
// exchange in 60 digits.
#if defined(LOOKBACK_ENGINE_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_ENGINE_KERNELS_VECTOR_MATH_INL_H_
#undef LOOKBACK_ENGINE_KERNELS_VECTOR_MATH_INL_H_
#else
#define LOOKBACK_ENGINE_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct MathConstants;

template <>
struct MathConstants<float> {
  static constexpr int kMantissaBits = 23;
  static constexpr int kExponentBias = 127;
  // exp rounds to 0 below and to infinity above.
  static constexpr float kExpZero = -104.0f;
  static constexpr float kExpInfinity = 89.0f;
  // ln 2 in two parts, the first short enough that its product with an exponent is exact.
  static constexpr float kLn2High = 0x1.62e4p-1f;
  static constexpr float kLn2Low = 0x1.7f7d1cf8p-20f;
  // (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, minimax, highest power first.
  static constexpr float kExp[] = {0.00138131697263f, 0.00836941864461f, 0.0416684564062f,
                                   0.166665147945f, 0.499999930517f};
  // (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2, for |s| <= 0.1716.
  static constexpr float kLog[] = {2 / 9.0f, 2 / 7.0f, 2 / 5.0f, 2 / 3.0f};
  // The bits of sqrt(1/2), and a power of two that makes subnormal numbers normal.
  static constexpr uint32_t kSqrtHalf = 0x3F3504F3;
  static constexpr int kSubnormalShift = 25;
  static constexpr float kTanhOne = 10.0f;  // tanh rounds to 1 from here on
  // Phi(-t) exp(t^2 / 2) = P(t) / Q(t) for 0 <= t <= kTailEnd, minimax, highest power first.
  // All coefficients are positive: no cancellation. From the end on Phi(-t) rounds to 0.
  static constexpr float kTailEnd = 14.4f;
  static constexpr float kTailP[] = {0.0041165883862081208869f, 0.040635882966249294739f,
                                     0.18324406102632181964f, 0.43830848155368053257f,
                                     0.5000000028663753867f};
  static constexpr float kTailQ[] = {0.010318637270615800906f, 0.10186549310360902834f,
                                     0.46949381929848333096f,  1.2025426047823200347f,
                                     1.6745019408410853862f,   1.0f};
};

template <>
struct MathConstants<double> {
  static constexpr int kMantissaBits = 52;
  static constexpr int kExponentBias = 1023;
  static constexpr double kExpZero = -746.0;
  static constexpr double kExpInfinity = 710.0;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  // 1 / 13!, ..., 1 / 2!
  static constexpr double kExp[] = {
      1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0,
      1 / 5040.0,       1 / 720.0,       1 / 120.0,      1 / 24.0,      1 / 6.0,      1 / 2.0};
  static constexpr double kLog[] = {2 / 21.0, 2 / 19.0, 2 / 17.0, 2 / 15.0, 2 / 13.0,
                                    2 / 11.0, 2 / 9.0,  2 / 7.0,  2 / 5.0,  2 / 3.0};
  static constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  static constexpr int kSubnormalShift = 54;
  static constexpr double kTanhOne = 20.0;
  static constexpr double kTailEnd = 38.6;
  static constexpr double kTailP[] = {
      2.2390367713872579322e-7, 6.968442169879039983e-6,  0.00010647347254316043145,
      0.0010388861011991805235, 0.0071180667372286072529, 0.03564780361119225652,
      0.13198655575892263544,   0.35722158187220566481,   0.67944700123128278707,
      0.82781938868883916449,   0.50000000000000000043};
  static constexpr double kTailQ[] = {
      5.6124328790964919961e-7, 0.000017467294173180289866, 0.00026745066005952016765,
      0.0026215685697675826933, 0.018108114265298921103,    0.091924959442784741544,
      0.34815540618854190986,   0.97974412198901151577,     2.0009027479039735327,
      2.816522393566321208,     2.4535233381805438898,      1.0};
};

template <class D>
using Constants = MathConstants<hn::TFromD<D>>;

// c[0] x^(N-1) + ... + c[N-1], by Horner's rule.
template <class D, class V, size_t N>
HWY_INLINE V Polynomial(D d, V x, const hn::TFromD<D> (&c)[N]) {
  V sum = hn::Set(d, c[0]);
  for (size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

// exp(x + low) = 2^n (1 + fraction), for a `low` that is tiny beside x.
template <class D>
struct ExpParts {
  hn::Vec<D> power;  // 2^(n + lift): only its bits, should that exponent not exist
  hn::Vec<D> fraction;
};

template <int kLift, class D, class V>
HWY_INLINE ExpParts<D> SplitExp(D d, V x, V low) {
  using T = hn::TFromD<D>;
  using C = Constants<D>;
  // x / ln 2 plus a number so large that only integers are near it: the sum carries n in its low
  // bits, already biased as an exponent.
  constexpr T kRound = T{3} / 2 * (1ULL << C::kMantissaBits) + C::kExponentBias + kLift;
  const auto round = hn::Set(d, kRound);
  const auto carrier = hn::MulAdd(x, hn::Set(d, static_cast<T>(1.4426950408889634)), round);
  const auto n = hn::Sub(carrier, round);
  auto r = hn::NegMulAdd(n, hn::Set(d, C::kLn2High), x);
  r = hn::Add(hn::NegMulAdd(n, hn::Set(d, C::kLn2Low), r), low);
  const auto fraction = hn::MulAdd(hn::Mul(r, r), Polynomial(d, r, C::kExp), r);
  const hn::RebindToUnsigned<D> bits;
  const auto exponent = hn::ShiftLeft<C::kMantissaBits>(hn::BitCast(bits, carrier));
  return {hn::BitCast(d, exponent), fraction};
}

// exp(x + low) for kExpZero <= x <= 0. 2^(n + 64) is a normal number; the last product alone
// rounds, where the result is subnormal.
template <class D, class V>
HWY_INLINE V ExpInRange(D d, V x, V low) {
  const auto parts = SplitExp<64>(d, x, low);
  const auto lifted = hn::MulAdd(parts.power, parts.fraction, parts.power);
  return hn::Mul(lifted, hn::Set(d, static_cast<hn::TFromD<D>>(0x1p-64)));
}

template <class D, class V>
HWY_INLINE V ExpOfNonPositive(D d, V x) {
  const auto result = ExpInRange(d, x, hn::Zero(d));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, Constants<D>::kExpZero)), result);
}

template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  using T = hn::TFromD<D>;
  using C = Constants<D>;
  const hn::RebindToUnsigned<D> bits;
  using U = hn::TFromD<decltype(bits)>;
  const auto parts = SplitExp<0>(d, x, hn::Zero(d));
  // 2^(n + 64) 2^-64 for negative x, 2^(n - 1) 2 for the others: neither factor overflows.
  const auto negative = hn::Lt(x, hn::Zero(d));
  const auto up = hn::BitCast(d, hn::Set(bits, U{64} << C::kMantissaBits));
  const auto down = hn::BitCast(d, hn::Set(bits, U{0} - (U{1} << C::kMantissaBits)));
  const auto lift = hn::BitCast(bits, hn::IfThenElse(negative, up, down));
  const auto power = hn::BitCast(d, hn::Add(hn::BitCast(bits, parts.power), lift));
  const auto lifted = hn::MulAdd(power, parts.fraction, power);
  const auto back = hn::IfThenElse(negative, hn::Set(d, static_cast<T>(0x1p-64)), hn::Set(d, T{2}));
  auto result = hn::Mul(lifted, back);
  result = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, C::kExpZero)), result);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, C::kExpInfinity)), infinity, result);
}

// log(x) = k ln 2 + log(m), with x = 2^k m and sqrt(1/2) <= m < sqrt(2). With f = m - 1 and
// s = f / (2 + f): log(1 + f) = log((1 + s) / (1 - s)) = f - (f^2/2 - s (f^2/2 + s^2 (2/3 + ...))).
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  using T = hn::TFromD<D>;
  using C = Constants<D>;
  const hn::RebindToUnsigned<D> bits;
  using U = hn::TFromD<decltype(bits)>;
  const auto zero = hn::Zero(d);
  const auto one = hn::Set(d, T{1});
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const auto lift = hn::Set(d, static_cast<T>(1ULL << C::kSubnormalShift));
  const auto normal = hn::IfThenElse(subnormal, hn::Mul(x, lift), x);
  // Moved by 1 - sqrt(1/2), the exponent field is that of 2^k.
  const auto sqrt_half = hn::Set(bits, C::kSqrtHalf);
  const auto moved = hn::Add(hn::BitCast(bits, normal), hn::Sub(hn::BitCast(bits, one), sqrt_half));
  const auto mantissa = hn::Set(bits, (U{1} << C::kMantissaBits) - 1);
  const auto m = hn::BitCast(d, hn::Add(hn::And(moved, mantissa), sqrt_half));
  // The field as a number: put into the mantissa of 2^mantissa_bits, which is then subtracted.
  const auto large = hn::Set(d, static_cast<T>(1ULL << C::kMantissaBits));
  const auto field = hn::Or(hn::ShiftRight<C::kMantissaBits>(moved), hn::BitCast(bits, large));
  auto k =
      hn::Sub(hn::Sub(hn::BitCast(d, field), large), hn::Set(d, static_cast<T>(C::kExponentBias)));
  k = hn::IfThenElse(subnormal, hn::Sub(k, hn::Set(d, T{C::kSubnormalShift})), k);

  const auto f = hn::Sub(m, one);
  const auto s = hn::Div(f, hn::Add(hn::Set(d, T{2}), f));
  const auto s2 = hn::Mul(s, s);
  const auto half_f2 = hn::Mul(hn::Mul(hn::Set(d, T{1} / 2), f), f);
  const auto series = hn::Mul(s2, Polynomial(d, s2, C::kLog));
  const auto low = hn::MulAdd(s, hn::Add(half_f2, series), hn::Mul(k, hn::Set(d, C::kLn2Low)));
  auto result = hn::MulAdd(k, hn::Set(d, C::kLn2High), hn::Sub(f, hn::Sub(half_f2, low)));

  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  result = hn::IfThenElse(hn::Lt(x, infinity), result, x);  // infinity and NaN stay
  result = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), result);
  return hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), result);
}

// tanh(|x|) = -u / (2 + u) with u = exp(-2 |x|) - 1, which does not cancel near 0.
template <class D, class V>
HWY_INLINE V Tanh(D d, V x) {
  using T = hn::TFromD<D>;
  const auto end = hn::Set(d, Constants<D>::kTanhOne);
  auto size = hn::Abs(x);
  size = hn::IfThenElse(hn::Gt(size, end), end, size);
  const auto parts = SplitExp<0>(d, hn::Mul(hn::Set(d, T{-2}), size), hn::Zero(d));
  const auto u = hn::MulAdd(parts.power, parts.fraction, hn::Sub(parts.power, hn::Set(d, T{1})));
  return hn::CopySign(hn::Div(u, hn::Add(u, hn::Set(d, T{2}))), x);
}

// 1 / (1 + exp(-x)), or exp(x) / (1 + exp(x)) for negative x: the exp never overflows.
template <class D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  const auto e = ExpOfNonPositive(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

// The standard normal law at x, in its tail: t = |x|, cut where the tail ends; bell =
// exp(-t^2 / 2); tail = Phi(-t), accurate to the end.
template <class D>
struct NormalLaw {
  hn::Vec<D> t;
  hn::Vec<D> bell;
  hn::Vec<D> tail;
};

// -t^2 / 2 as a sum of two numbers. The rounding of one would cost t^2 / 4 units in the last place
// of the bell.
template <class D, class V>
HWY_INLINE void MinusHalfSquare(D d, V t, V& sum, V& low) {
  using T = hn::TFromD<D>;
#if HWY_NATIVE_FMA
  const auto minus_half_t = hn::Mul(hn::Set(d, T{-1} / 2), t);
  sum = hn::Mul(minus_half_t, t);
  low = hn::MulSub(minus_half_t, t, sum);
#else
  // t^2 = high^2 + (t - high) (t + high): with half the digits in `high` the first term is exact.
  const hn::RebindToUnsigned<D> bits;
  constexpr int kLowBits = Constants<D>::kMantissaBits / 2 + 1;
  const auto upper = hn::Set(bits, ~((hn::TFromD<decltype(bits)>{1} << kLowBits) - 1));
  const auto high = hn::BitCast(d, hn::And(hn::BitCast(bits, t), upper));
  const auto minus_half = hn::Set(d, T{-1} / 2);
  sum = hn::Mul(hn::Mul(minus_half, high), high);
  low = hn::Mul(hn::Mul(minus_half, hn::Sub(t, high)), hn::Add(t, high));
#endif
}

template <class D, class V>
HWY_INLINE NormalLaw<D> Normal(D d, V x) {
  using C = Constants<D>;
  auto t = hn::Abs(x);
  t = hn::IfThenElse(hn::Gt(t, hn::Set(d, C::kTailEnd)), hn::Set(d, C::kTailEnd), t);  // keeps NaN
  V square;
  V low;
  MinusHalfSquare(d, t, square, low);
  const auto bell = ExpInRange(d, square, low);
  const auto ratio = hn::Div(Polynomial(d, t, C::kTailP), Polynomial(d, t, C::kTailQ));
  return {t, bell, hn::Mul(bell, ratio)};
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LOOKBACK_ENGINE_KERNELS_VECTOR_MATH_INL_H_
