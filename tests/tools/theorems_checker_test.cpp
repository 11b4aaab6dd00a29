// The instrument that theorems are checked with: what it counts, accepts and says.
#include "tools/theorems/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/ops.h"

namespace lookback::tools {
namespace {

using testing::HasSubstr;

const Subject& honest() {
  static const Subject subject = library_subject(false);
  return subject;
}

TEST(Checker, CountsUlpsInThePrecisionOfWhatItIsGiven) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double ulp = std::ldexp(1.0, dtype == DType::f32 ? -23 : -52);  // of 1
    Checker check(honest(), 3);
    check.close("x", full({3}, 1 + 3 * ulp, dtype), ones({3}, dtype));
    EXPECT_TRUE(check.outcome().ok);
    EXPECT_EQ(check.outcome().residual, 3);
    EXPECT_EQ(check.outcome().difference, 3 * ulp);
    EXPECT_EQ(check.outcome().compared, 4);  // the shape, and three numbers
    check.close("x", full({3}, 1 + 4 * ulp, dtype), ones({3}, dtype));
    EXPECT_FALSE(check.outcome().ok);
  }
}

TEST(Checker, CountsUlpsAtTheLargestNumberComparedOrThatOfItsTerms) {
  const double ulp = std::ldexp(1.0, -52);
  Checker check(honest(), 1.01);
  check.close("x", from_vector<double>({1e-30, 4}, {2}), from_vector<double>({4 * ulp, 4}, {2}));
  EXPECT_TRUE(check.outcome().ok);
  EXPECT_NEAR(check.outcome().residual, 1, 1e-12);  // one of 4, not 10^30 of a tiny number
  check.close("x", full({1}, 16 * ulp, DType::f64), zeros({1}, DType::f64), 16.0);
  EXPECT_TRUE(check.outcome().ok);
  check.close("x", full({1}, ulp, DType::f64), zeros({1}, DType::f64));
  EXPECT_FALSE(check.outcome().ok);
}

TEST(Checker, AWitnessHasIndicesAndEveryDigitOfBothValues) {
  const float next = std::nextafter(0.1F, 1.0F);
  Checker check(honest(), 0);
  check.same_bits("x", from_vector<float>({0, 0, 0, next}, {2, 2}),
                  from_vector<float>({0, 0, 0, 0.1F}, {2, 2}));
  EXPECT_EQ(check.outcome().witness, "x [1, 1]: 0.10000001 instead of 0.1");
  EXPECT_EQ(check.outcome().differing, 1);
}

TEST(Checker, TheFirstFailureIsTheWitness) {
  Checker check(honest(), 0);
  check.that(true, "none");
  check.that(false, "one");
  check.that(false, "two");
  EXPECT_EQ(check.outcome().witness, "one");
  EXPECT_EQ(check.outcome().differing, 2);
  EXPECT_EQ(check.outcome().compared, 3);
}

TEST(Checker, RejectsNaNInEveryComparison) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor bad = full({2}, nan, DType::f64);
  Checker close(honest(), 1e9);
  close.close("x", bad, ones({2}, DType::f64));
  EXPECT_FALSE(close.outcome().ok);
  Checker both(honest(), 1e9);
  both.close("x", bad, bad);
  EXPECT_FALSE(both.outcome().ok);
  Checker bits(honest(), 0);
  bits.same_bits("x", bad, ones({2}, DType::f64));
  EXPECT_FALSE(bits.outcome().ok);
  Checker zero(honest(), 0);
  zero.all_zero("x", bad);
  EXPECT_FALSE(zero.outcome().ok);
  Checker statistic(honest(), 6);
  statistic.expectation("x", nan);
  EXPECT_FALSE(statistic.outcome().ok);
}

TEST(Checker, MinusZeroIsAnExactZeroButNotTheSameBits) {
  Checker zero(honest(), 0);
  zero.all_zero("x", full({1}, -0.0, DType::f64));
  EXPECT_TRUE(zero.outcome().ok);
  Checker bits(honest(), 0);
  bits.same_bits("x", full({1}, -0.0, DType::f64), zeros({1}, DType::f64));
  EXPECT_FALSE(bits.outcome().ok);
}

TEST(Checker, SaysBothShapes) {
  Checker check(honest(), 0);
  check.close("x", ones({2, 3}), ones({3, 2}));
  EXPECT_THAT(check.outcome().witness, HasSubstr("[2, 3] instead of [3, 2]"));
}

TEST(Checker, AStatisticIsCountedInStandardErrors) {
  Checker check(honest(), 6);
  check.expectation("variance", -5.9);
  EXPECT_TRUE(check.outcome().ok);
  check.expectation("variance", -6.1);
  EXPECT_THAT(check.outcome().witness, HasSubstr("-6.1 standard errors away"));
  EXPECT_EQ(check.outcome().residual, 6.1);
}

}  // namespace
}  // namespace lookback::tools
