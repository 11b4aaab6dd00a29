#include "engine/random.h"

#include <array>
#include <cmath>
#include <istream>
#include <ostream>

#include "engine/error.h"

namespace lookback {
namespace {

// c[0] + c[1] x + ... + c[7] x^7
double polynomial(const std::array<double, 8>& c, double x) {
  double sum = c[7];
  for (size_t i = 7; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// ln x for x in (0, 1): with x = m 2^e and s = (m - 1) / (m + 1),
// ln x = e ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...); |s| < 0.172, so 11 terms suffice.
double natural_log(double x) {
  int e = 0;
  double m = std::frexp(x, &e);  // in [1/2, 1); better around 1
  if (m < 0.70710678118654752) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1);
  double series = 0;
  for (int odd = 21; odd >= 3; odd -= 2) series = (series + 1.0 / odd) * (s * s);
  return e * 0.69314718055994531 + 2 * (s + s * series);
}

// The inverse of the normal distribution function (Wichura 1988, AS 241, routine PPND16).
double inverse_normal(double p) {
  static constexpr std::array<double, 8> a = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                              1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                              4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr std::array<double, 8> b = {1.0,
                                              4.2313330701600911252e+1,
                                              6.8718700749205790830e+2,
                                              5.3941960214247511077e+3,
                                              2.1213794301586595867e+4,
                                              3.9307895800092710610e+4,
                                              2.8729085735721942674e+4,
                                              5.2264952788528545610e+3};
  static constexpr std::array<double, 8> c = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                              5.76949722146069140550e0,  3.64784832476320460504e0,
                                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr std::array<double, 8> d = {1.0,
                                              2.05319162663775882187e0,
                                              1.67638483018380384940e0,
                                              6.89767334985100004550e-1,
                                              1.48103976427480074590e-1,
                                              1.51986665636164571966e-2,
                                              5.47593808499534494600e-4,
                                              1.05075007164441684324e-9};
  static constexpr std::array<double, 8> e = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                              1.78482653991729133580e0,  2.96560571828504891230e-1,
                                              2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr std::array<double, 8> f = {1.0,
                                              5.99832206555887937690e-1,
                                              1.36929880922735805310e-1,
                                              1.48753612908506148525e-2,
                                              7.86869131145613259100e-4,
                                              1.84631831751005468180e-5,
                                              1.42151175831644588870e-7,
                                              2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double tail = std::sqrt(-natural_log(q < 0 ? p : 1.0 - p));
  const double z = tail <= 5.0 ? polynomial(c, tail - 1.6) / polynomial(d, tail - 1.6)
                               : polynomial(e, tail - 5.0) / polynomial(f, tail - 5.0);
  return q < 0 ? -z : z;
}

}  // namespace

Generator::Generator(uint64_t seed) : seed_(seed), bits_(seed) {}

uint64_t Generator::next_bits() { return bits_(); }

double Generator::next_uniform() { return static_cast<double>(next_bits() >> 11) * 0x1p-53; }

double Generator::next_normal() {
  // Centred in its cell of width 2^-52, the uniform is never 0 or 1.
  return inverse_normal((static_cast<double>(next_bits() >> 12) + 0.5) * 0x1p-52);
}

int64_t Generator::next_below(int64_t count) {
  check(count >= 1, "next_below", "count must be at least 1; got ", count);
  const auto range = static_cast<uint64_t>(count);
  const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % range;  // a multiple of range
  uint64_t bits = next_bits();
  while (bits >= limit) bits = next_bits();
  return static_cast<int64_t>(bits % range);
}

std::ostream& operator<<(std::ostream& out, const Generator& generator) {
  return out << generator.seed_ << ' ' << generator.bits_;
}

std::istream& operator>>(std::istream& in, Generator& generator) {
  Generator read(0);
  if (in >> read.seed_ >> read.bits_) generator = read;
  return in;
}

}  // namespace lookback
