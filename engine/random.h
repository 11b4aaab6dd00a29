// Generator: seeded random numbers that are the same with every compiler and library.
//
// The bits come from std::mt19937_64, which the C++ standard specifies to the bit; the mapping
// from bits to numbers is ours and uses IEEE + - * / sqrt alone, since the standard's
// distributions, and the last bit of its log, differ between libraries.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <random>

namespace lookback {

class Generator {
 public:
  explicit Generator(uint64_t seed);

  uint64_t next_bits();
  // Uniform in [0, 1): the top 53 bits of one draw.
  double next_uniform();
  // Normal(0, 1), from one draw: the inverse distribution function at a uniform in (0, 1)
  // (Wichura 1988, Algorithm AS 241, relative error about 1e-16).
  double next_normal();
  // Uniform in {0, ..., count - 1}, without bias. REQUIRES: count >= 1.
  int64_t next_below(int64_t count);

  uint64_t seed() const { return seed_; }

  // The state as text: a saved generator goes on exactly where it was. Text that is no such state
  // sets the stream's failbit and leaves the generator as it was.
  friend std::ostream& operator<<(std::ostream& out, const Generator& generator);
  friend std::istream& operator>>(std::istream& in, Generator& generator);

 private:
  uint64_t seed_;
  std::mt19937_64 bits_;
};

}  // namespace lookback
