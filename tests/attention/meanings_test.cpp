// The meanings that were decided once, each as a test of its own. Most are stated for the formula
// on all its paths: composed, fused and streaming.
#include <cmath>
#include <limits>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::causal_mask;
using attention::fused_attention;
using attention::scaled_dot_product_attention;
using attention::sliding_window_mask;
using attention::streaming_attention;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// softmax(q k^T / sqrt(d_k)) v by one of three roads.
struct Path {
  std::string name;
  std::function<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor& mask)> attend;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const Path& p) { return out << p.name << p.dtype; }

std::vector<Path> paths() {
  std::vector<Path> all;
  for (const DType dtype : {DType::f32, DType::f64}) {
    all.push_back({"Composed_",
                   [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
                     return scaled_dot_product_attention(q, k, v, mask).output;
                   },
                   dtype});
    all.push_back({"Fused_",
                   [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
                     return fused_attention(q, k, v, mask);
                   },
                   dtype});
    all.push_back({"Streaming_",
                   [](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
                     return streaming_attention(q, k, v, mask);
                   },
                   dtype});
  }
  return all;
}

class MeaningTest : public testing::TestWithParam<Path> {
 protected:
  Tensor attend(const Tensor& mask) const { return GetParam().attend(q_, k_, v_, mask); }
  static Tensor booleans(const std::vector<bool>& values, const Shape& shape) {
    return from_vector<bool>(values, shape);
  }

  const DType dtype_ = GetParam().dtype;
  const double tolerance_ = dtype_ == DType::f32 ? 1e-6 : 1e-14;
  const Tensor q_ = normal_variable({3, 4}, dtype_, 1);
  const Tensor k_ = normal_variable({5, 4}, dtype_, 2);
  const Tensor v_ = normal_variable({5, 2}, dtype_, 3);
};

TEST_P(MeaningTest, TrueInAMaskMeansMayAttend) {
  const Tensor only_key_2 = unsqueeze(arange(5), 0) == 2.0;  // (1, 5)
  EXPECT_TRUE(all_close(attend(only_key_2), expand(narrow(v_, 0, 2, 1), {3, 2}), 0));
}

TEST_P(MeaningTest, AMaskThatAllowsEverythingChangesNothing) {
  EXPECT_TRUE(same_bits(attend(ones({3, 5}, DType::boolean)), attend({})));
}

TEST_P(MeaningTest, AMaskIsNeverANumber) {
  EXPECT_TRUE(throws<std::invalid_argument>([&] { attend(ones({3, 5}, dtype_)); }, {"boolean"}));
}

// A large finite number in place of -infinity would win against these scores of -1e8.
TEST_P(MeaningTest, AMaskedScoreIsMinusInfinityHoweverLowTheOthersAre) {
  const Tensor q = full({1, 1}, -1e4, dtype_);
  const Tensor k = full({2, 1}, 1e4, dtype_);
  const Tensor v = from_vector<double>({3, 7}, {2, 1});
  EXPECT_TRUE(has_values(GetParam().attend(q, k, to(v, dtype_), booleans({true, false}, {1, 2})),
                         {1, 1}, {3}));
}

TEST_P(MeaningTest, AMaskedScoreOfPlusInfinityIsNotRead) {
  const Tensor q = full({1, 1}, 1e30, dtype_);  // 1e30 * 1e30 overflows in f32
  const Tensor k = from_vector<double>({0, 1e300}, {2, 1});
  const Tensor v = from_vector<double>({3, 7}, {2, 1});
  EXPECT_TRUE(has_values(
      GetParam().attend(q, to(k, dtype_), to(v, dtype_), booleans({true, false}, {1, 2})), {1, 1},
      {3}));
}

TEST_P(MeaningTest, AQueryThatMayAttendToNothingHasOutputZeroAndGradientsZero) {
  const Tensor may_attend = unsqueeze(arange(3), 1) != 1.0;  // (3, 1): query 1 sees no key
  const Tensor out = attend(may_attend);
  EXPECT_TRUE(all_zero(select(out, 0, 1)));

  const auto of_empty_row = grad(sum(select(out, 0, 1)), {q_, k_, v_}, {}, {.retain_graph = true});
  for (const Tensor& dx : of_empty_row) EXPECT_TRUE(all_zero(dx));
  const auto of_all = grad(sum(out), {q_, k_, v_});
  EXPECT_TRUE(all_zero(select(of_all[0], 0, 1)));
  EXPECT_FALSE(all_zero(select(of_all[0], 0, 0)));
  for (const Tensor& dx : of_all) EXPECT_FALSE(std::isnan(sum(dx).item<double>()));
}

TEST_P(MeaningTest, AKeyThatNobodyMayAttendToHasGradientsZero) {
  const Tensor not_key_3 = unsqueeze(arange(5), 0) != 3.0;
  const auto gradients = grad(sum(attend(not_key_3)), {k_, v_});
  for (const Tensor& dx : gradients) {
    EXPECT_TRUE(all_zero(select(dx, 0, 3)));
    EXPECT_FALSE(all_zero(select(dx, 0, 2)));
  }
}

TEST_P(MeaningTest, NoKeysAtAllGiveZero) {
  const Tensor out = GetParam().attend(q_, narrow(k_, 0, 0, 0), narrow(v_, 0, 0, 0), {});
  EXPECT_TRUE(has_values(out, {3, 2}, {0, 0, 0, 0, 0, 0}));
}

TEST_P(MeaningTest, UnderABottomRightMaskTheLastQuerySeesAllKeysAndEachEarlierOneFewer) {
  const Tensor out = attend(causal_mask(3, 5));
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t seen = i + 3;  // 5 - 3 keys come from before the first query
    const Tensor row =
        GetParam().attend(narrow(q_, 0, i, 1), narrow(k_, 0, 0, seen), narrow(v_, 0, 0, seen), {});
    EXPECT_TRUE(all_close(narrow(out, 0, i, 1), row, tolerance_)) << i;
  }
}

TEST_P(MeaningTest, WithMoreQueriesThanKeysTheFirstQueriesSeeNothing) {
  const Tensor out = GetParam().attend(k_, q_, q_, causal_mask(5, 3));
  EXPECT_TRUE(all_zero(narrow(out, 0, 0, 2)));
  EXPECT_TRUE(all_close(select(out, 0, 2), select(q_, 0, 0), tolerance_));
}

TEST_P(MeaningTest, AWindowOfOneReturnsTheValues) {
  const Tensor out = GetParam().attend(k_, k_, v_, sliding_window_mask(5, 5, 1));
  EXPECT_TRUE(all_close(out, v_, 0));
}

TEST_P(MeaningTest, AWindowCountsTheTokenItself) {
  const Tensor out = GetParam().attend(k_, k_, v_, sliding_window_mask(5, 5, 2));
  const Tensor last = GetParam().attend(narrow(k_, 0, 4, 1), narrow(k_, 0, 3, 2),
                                        narrow(v_, 0, 3, 2), {});  // keys 3 and 4
  EXPECT_TRUE(all_close(narrow(out, 0, 4, 1), last, tolerance_));
}

TEST_P(MeaningTest, AWindowAsLongAsTheSequenceIsCausal) {
  EXPECT_TRUE(same_bits(GetParam().attend(k_, k_, v_, sliding_window_mask(5, 5, 5)),
                        GetParam().attend(k_, k_, v_, causal_mask(5, 5))));
}

// In the composed paths a masked value is multiplied by zero, and 0 * NaN is NaN, as the algebra
// says. The fused path never reads it.
TEST_P(MeaningTest, NaNOrInfinityInAMaskedValueReachesTheOutputUnlessFused) {
  const bool fused = GetParam().name == "Fused_";
  const Tensor not_key_3 = unsqueeze(arange(5), 0) != 3.0;
  const Tensor clean = attend(not_key_3);
  for (const double poison : {kNaN, kInfinity, -kInfinity}) {
    const Tensor v = v_.detach().clone();
    select(v, 0, 3).fill_(poison);
    const Tensor out = GetParam().attend(q_, k_, v, not_key_3);
    EXPECT_TRUE(fused ? same_bits(out, clean) : all_nan(out)) << poison;
  }
}

// Scores are selected, not multiplied, so a masked key may be anything on every path but the
// streaming one, whose running maximum is taken over selected scores as well: all of them.
TEST_P(MeaningTest, NaNOrInfinityInAMaskedKeyReachesNoOutput) {
  const Tensor not_key_3 = unsqueeze(arange(5), 0) != 3.0;
  for (const double poison : {kNaN, kInfinity, -kInfinity}) {
    const Tensor k = k_.detach().clone();
    select(k, 0, 3).fill_(poison);
    EXPECT_TRUE(same_bits(GetParam().attend(q_, k, v_, not_key_3), attend(not_key_3))) << poison;
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, MeaningTest, testing::ValuesIn(paths()), layer_name<Path>);

TEST(Meaning, PlainSoftmaxOfAnEmptyRowIsNaNSinceNoDistributionExists) {
  EXPECT_TRUE(all_nan(softmax(full({2, 3}, -kInfinity), -1)));
}

TEST(Meaning, TheWeightsOfAnEmptyRowAreZero) {
  const Tensor x = normal({3, 4});
  const auto result = scaled_dot_product_attention(x, x, x, unsqueeze(arange(3), 1) != 1.0);
  EXPECT_TRUE(all_zero(select(result.weights, 0, 1)));
  EXPECT_TRUE(all_close(sum(result.weights, -1), from_vector<double>({1, 0, 1}, {3}), 1e-14));
}

TEST(Meaning, ACausalMaskIsAlignedAtTheBottomRight) {
  EXPECT_TRUE(has_values(causal_mask(2, 4), {2, 4},
                         {1, 1, 1, 0,  //
                          1, 1, 1, 1}));
  EXPECT_TRUE(has_values(causal_mask(4, 2), {4, 2},
                         {0, 0,  //
                          0, 0,  //
                          1, 0,  //
                          1, 1}));
  EXPECT_TRUE(has_values(causal_mask(1, 1), {1, 1}, {1}));
  EXPECT_EQ(causal_mask(3, 3).dtype(), DType::boolean);
}

TEST(Meaning, ASlidingWindowIsABandOfTheCausalMask) {
  EXPECT_TRUE(has_values(sliding_window_mask(4, 4, 2), {4, 4},
                         {1, 0, 0, 0,  //
                          1, 1, 0, 0,  //
                          0, 1, 1, 0,  //
                          0, 0, 1, 1}));
  EXPECT_TRUE(has_values(sliding_window_mask(2, 4, 2), {2, 4},
                         {0, 1, 1, 0,  //
                          0, 0, 1, 1}));
}

TEST(Meaning, MasksOfImpossibleSizesAreRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { causal_mask(-1, 2); }, {"[causal_mask]", "-1"}));
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { causal_mask(3, -1); }, {"[causal_mask]", "3", "-1"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        scaled_dot_product_attention(ones({4, 2}), ones({5, 2}), ones({5, 2}), causal_mask(5, 5));
      },
      {"[scaled_dot_product_attention]", "mask", "[4, 5]", "[5, 5]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { sliding_window_mask(2, 2, 0); },
                                            {"[sliding_window_mask]", "at least 1", "got 0"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { causal_mask(1'000'000'000, 1'000'000'000); },
                                            {"[causal_mask]", "too many", "1000000000"}));
}

// 1 / sqrt(0) is infinite; with a scale of one's own the scores are sums of nothing: all equal.
TEST(Meaning, QueriesOfWidth0HaveNoDefaultScale) {
  const Tensor q = zeros({2, 0});
  const Tensor v = from_vector<float>({1, 3}, {2, 1});
  const auto refused = [](const std::function<void()>& call) {
    EXPECT_TRUE(throws<std::invalid_argument>(call, {"attention]", "width 0"}));
  };
  refused([&] { scaled_dot_product_attention(q, q, v); });
  refused([&] { fused_attention(q, q, v); });
  refused([&] { streaming_attention(q, q, v); });
  for (const Tensor& out : {scaled_dot_product_attention(q, q, v, {}, {.scale = 1}).output,
                            fused_attention(q, q, v, {}, {.scale = 1})}) {
    EXPECT_TRUE(has_values(out, {2, 1}, {2, 2}));
  }
}

TEST(Meaning, MasksMayBeEmpty) {
  EXPECT_EQ(causal_mask(0, 3).shape(), Shape({0, 3}));
  EXPECT_EQ(causal_mask(3, 0).shape(), Shape({3, 0}));
}

}  // namespace
}  // namespace lookback::test
