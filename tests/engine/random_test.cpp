// Random numbers: golden values that every compiler must give, and the distributions' shapes.
#include "engine/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "engine/tensor.h"
#include "tests/support/matchers.h"

namespace lookback {
namespace {

using test::same_bits;
using test::throws;

// --- Golden values ------------------------------------------------------------------------------

TEST(Golden, Bits) {
  Generator generator(42);
  EXPECT_EQ(generator.next_bits(), 0xc151df7d6ee5e2d6U);
  EXPECT_EQ(generator.next_bits(), 0xa3978fb9b92502a8U);
  EXPECT_EQ(generator.next_bits(), 0xc08c967f0e5e7b0aU);
  EXPECT_EQ(generator.next_bits(), 0x22e2c43f8a1ad34eU);
}

// The C++ standard names this number: the 10000th of std::mt19937_64 with its default seed.
TEST(Golden, TheStandardsOwnValue) {
  Generator generator(5489);
  for (int i = 1; i < 10'000; ++i) generator.next_bits();
  EXPECT_EQ(generator.next_bits(), 9981545732273789042U);
}

TEST(Golden, Uniform) {
  Generator generator(42);
  for (const double expected : {0x1.82a3befaddcbcp-1, 0x1.472f1f73724ap-1, 0x1.81192cfe1cbcfp-1}) {
    EXPECT_EQ(generator.next_uniform(), expected);
  }
}

// Another implementation of AS 241 (Python's statistics.NormalDist) gives the same to the last bit
// or the last but one. The eleventh is from the tail, where a logarithm takes part.
TEST(Golden, Normal) {
  Generator generator(42);
  for (const double expected :
       {0x1.61b1047ea4c7bp-1, 0x1.6c696f2944fafp-2, 0x1.5ccd91ec57a26p-1, -0x1.18e363c282ab1p+0,
        0x1.4ce75df094d9dp+0, -0x1.50ecaed2b6966p+0, 0x1.8111aff50ca97p-3, -0x1.4bfef89bfa611p-2,
        -0x1.33c855b002461p-1, -0x1.1d4cc03dc7bb8p-2, -0x1.1f5d7b73742cfp+1,
        0x1.e71080778284ep-5}) {
    EXPECT_EQ(generator.next_normal(), expected);
  }
}

// The bits of a million normals, tails included, in one number (FNV-1a, Fowler et al. 1991).
TEST(Golden, AMillionNormals) {
  Generator generator(7);
  uint64_t hash = 14695981039346656037U;
  for (int i = 0; i < 1'000'000; ++i) {
    hash = (hash ^ std::bit_cast<uint64_t>(generator.next_normal())) * 1099511628211U;
  }
  EXPECT_EQ(hash, 0x764cd5efbda87709U);
}

TEST(Golden, Below) {
  Generator generator(42);
  const std::vector<int64_t> expected = {6, 4, 0, 2, 1, 8, 6, 4, 0, 7};
  for (const int64_t value : expected) EXPECT_EQ(generator.next_below(10), value);
}

TEST(Golden, Tensors) {
  Generator generator(42);
  EXPECT_EQ(randn({4}, generator).to_vector<float>(),
            (std::vector<float>{0x1.61b104p-1F, 0x1.6c697p-2F, 0x1.5ccd92p-1F, -0x1.18e364p+0F}));
  generator = Generator(42);
  EXPECT_EQ(uniform({4}, -1, 3, generator).to_vector<float>(),
            (std::vector<float>{0x1.02a3bep+1F, 0x1.8e5e3ep+0F, 0x1.01192cp+1F, -0x1.d1d3bcp-2F}));
}

// --- Streams of numbers -------------------------------------------------------------------------

TEST(Generator, TheSeedDecides) {
  Generator a(1);
  Generator b(1);
  Generator c(2);
  EXPECT_EQ(a.next_bits(), b.next_bits());
  EXPECT_NE(a.next_bits(), c.next_bits());
  EXPECT_EQ(c.seed(), 2U);
}

TEST(Generator, AnElementTakesADraw) {
  Generator once(3);
  Generator twice(3);
  const Tensor all = randn({2, 3}, once, DType::f64);
  const std::vector<double> first = randn({4}, twice, DType::f64).to_vector<double>();
  const std::vector<double> second = randn({2}, twice, DType::f64).to_vector<double>();
  std::vector<double> joined = first;
  joined.insert(joined.end(), second.begin(), second.end());
  EXPECT_EQ(all.to_vector<double>(), joined);
}

TEST(Generator, F32IsTheRoundedF64) {
  Generator a(3);
  Generator b(3);
  const std::vector<double> wide = randn({100}, a, DType::f64).to_vector<double>();
  const std::vector<float> narrow = randn({100}, b).to_vector<float>();
  for (size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(static_cast<float>(wide[i]), narrow[i]);
}

TEST(Generator, GoesOnWhereItWasSaved) {
  Generator original(11);
  for (int i = 0; i < 1000; ++i) original.next_bits();
  std::stringstream text;
  text << original;
  Generator restored(0);
  text >> restored;
  EXPECT_TRUE(text);
  EXPECT_EQ(restored.seed(), 11U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(restored.next_bits(), original.next_bits());
}

TEST(Generator, ASavedStateIsFollowedByOtherText) {
  std::stringstream text;
  text << Generator(5) << " step 17";
  Generator restored(0);
  std::string word;
  int step = 0;
  text >> restored >> word >> step;
  EXPECT_EQ(word, "step");
  EXPECT_EQ(step, 17);
}

TEST(Generator, ABadStateChangesNothing) {
  for (const char* bad : {"", "abc", "5", "5 1 2 3"}) {
    Generator generator(9);
    Generator same(9);
    std::istringstream text(bad);
    text >> generator;
    EXPECT_FALSE(text) << bad;
    EXPECT_EQ(generator.next_bits(), same.next_bits()) << bad;
    EXPECT_EQ(generator.seed(), 9U) << bad;
  }
}

// --- Distributions ------------------------------------------------------------------------------

struct Moments {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0;
};

Moments moments(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const double v : values) m.mean += v / n;
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean) / n;
  for (const double v : values) {
    const double z = (v - m.mean) / std::sqrt(m.variance);
    m.skewness += z * z * z / n;
    m.kurtosis += z * z * z * z / n;
  }
  return m;
}

TEST(Normal, HasItsMoments) {
  Generator generator(1);
  const Moments m = moments(randn({400'000}, generator, DType::f64).to_vector<double>());
  EXPECT_NEAR(m.mean, 0, 0.006);  // four standard errors, here and below
  EXPECT_NEAR(m.variance, 1, 0.009);
  EXPECT_NEAR(m.skewness, 0, 0.016);
  EXPECT_NEAR(m.kurtosis, 3, 0.031);
}

// The distribution function of a normal draw is uniform: back through erfc, the same uniform comes
// out that the draw was made from.
TEST(Normal, IsTheInverseOfTheDistributionFunction) {
  Generator normals(2);
  Generator bits(2);
  for (int i = 0; i < 100'000; ++i) {
    const double p = (static_cast<double>(bits.next_bits() >> 12) + 0.5) * 0x1p-52;
    const double z = normals.next_normal();
    const double back = 0.5 * std::erfc(-z / std::sqrt(2.0));
    ASSERT_NEAR(back, p, 2e-15 + 2e-15 * z * z * p) << z;
  }
}

TEST(Uniform, HasItsMomentsAndStaysInside) {
  Generator generator(1);
  const std::vector<double> values =
      uniform({400'000}, -1, 3, generator, DType::f64).to_vector<double>();
  const Moments m = moments(values);
  EXPECT_NEAR(m.mean, 1, 0.008);
  EXPECT_NEAR(m.variance, 16.0 / 12.0, 0.008);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
}

// In f32 the largest draws round up to hi; the interval stays half-open.
TEST(Uniform, NeverReachesItsEnd) {
  Generator generator(1);
  const float hi = 1.0F + 4 * std::numeric_limits<float>::epsilon();
  for (const float v : uniform({10'000}, 1, hi, generator).to_vector<float>()) {
    ASSERT_GE(v, 1.0F);
    ASSERT_LT(v, hi);
  }
  EXPECT_EQ(uniform({1}, 2, 2, generator).item<float>(), 2);
}

TEST(Uniform, RefusesAnEmptyIntervalAndIntegers) {
  Generator generator(1);
  Generator same(1);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { uniform({2}, 1, 0, generator); }, {"[uniform]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { uniform({2}, 0, 1, generator, DType::i64); },
                                            {"[uniform]", "i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { randn({2}, generator, DType::boolean); },
                                            {"[randn]", "boolean"}));
  EXPECT_EQ(generator.next_bits(), same.next_bits());  // no draw was taken
}

// Pearson's chi-squared over 10 boxes: 9 degrees of freedom, 99.9 % of samples are below 27.9.
TEST(Below, IsUniform) {
  Generator generator(4);
  std::vector<double> boxes(10, 0.0);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) ++boxes[static_cast<size_t>(generator.next_below(10))];
  double chi_squared = 0;
  for (const double count : boxes)
    chi_squared += std::pow(count - kDraws / 10.0, 2) * 10.0 / kDraws;
  EXPECT_LT(chi_squared, 27.9);
}

// With count = 3/4 of 2^63 a plain remainder of 63 bits would hit the lower third twice as often.
// Here a quarter of the draws falls in each quarter of the range.
TEST(Below, HasNoBiasForHugeCounts) {
  Generator generator(4);
  constexpr int64_t kCount = (int64_t{1} << 61) * 3;
  int lower = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t value = generator.next_below(kCount);
    ASSERT_GE(value, 0);
    ASSERT_LT(value, kCount);
    lower += value < kCount / 2;
  }
  EXPECT_NEAR(lower, kDraws / 2, 4 * std::sqrt(kDraws / 4.0));
}

TEST(Below, OneLeavesNoChoiceAndZeroNone) {
  Generator generator(4);
  EXPECT_EQ(generator.next_below(1), 0);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { generator.next_below(0); }, {"[next_below]"}));
  EXPECT_GE(generator.next_below(std::numeric_limits<int64_t>::max()), 0);
}

}  // namespace
}  // namespace lookback
