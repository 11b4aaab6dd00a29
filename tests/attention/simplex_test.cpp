// Simplex: each row of the attention matrix is a probability distribution over the tokens that may
// be seen. Weights are nonnegative, rows sum to 1, and what may not be seen has weight exactly 0.
//
// The theorem is one function, is_causal_simplex(). It is held against the real heads, and then
// against classic mistakes, which it must refuse: a proof that accepts everything proves nothing.
#include <cmath>
#include <limits>

#include "attention/attention.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;

constexpr double kTolerance = 1e-6;

// weights (..., T, T): every row a distribution over the tokens j <= i, or the last W of them.
AssertionResult is_causal_simplex(const Tensor& weights, int64_t W = 0) {
  const int64_t T = weights.size(-1);
  const std::vector<double> w = weights.to_vector<double>();
  for (size_t row = 0; row * static_cast<size_t>(T) < w.size(); ++row) {
    const auto i = static_cast<int64_t>(row) % T;
    double total = 0;
    for (int64_t j = 0; j < T; ++j) {
      const double weight = w[row * static_cast<size_t>(T) + static_cast<size_t>(j)];
      const bool seen = j <= i && (W == 0 || j > i - W);
      if (!(weight >= 0)) return AssertionFailure() << "negative or NaN: " << weight;
      if (!seen && weight != 0) return AssertionFailure() << i << " sees " << j << ": " << weight;
      total += weight;
    }
    if (!(std::abs(total - 1) <= kTolerance)) {
      return AssertionFailure() << "row " << i << " sums to " << total;
    }
  }
  return testing::AssertionSuccess();
}

class SimplexTest : public testing::TestWithParam<DType> {
 protected:
  const DType dtype_ = GetParam();
  const Tensor x_ = normal({4, 8, 32}, dtype_);

  // Scores of a random head, before any mask: (4, 8, 8).
  Tensor scores() const {
    const Tensor q = normal({4, 8, 16}, dtype_, 2);
    const Tensor k = normal({4, 8, 16}, dtype_, 3);
    return matmul(q, transpose(k, -2, -1)) / 4.0;
  }
  Tensor masked(const Tensor& scores, double value) const {
    return masked_fill(scores, !attention::causal_mask(8, 8), value);
  }
  const double infinity_ = std::numeric_limits<double>::infinity();
};

TEST_P(SimplexTest, TheWeightsOfAHeadAreDistributionsOverThePast) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.dtype = dtype_});
  head.forward(x_);
  EXPECT_EQ(head.weights().shape(), Shape({4, 8, 8}));
  EXPECT_TRUE(is_causal_simplex(head.weights()));
}

TEST_P(SimplexTest, SoAreThoseOfAFusedHeadWhichComputesThemWhenAsked) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.fused = true, .dtype = dtype_});
  head.forward(x_);
  EXPECT_TRUE(is_causal_simplex(head.weights()));
}

TEST_P(SimplexTest, UnderAWindowTheyAreDistributionsOverTheLastTokens) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.window = 3, .dtype = dtype_});
  head.forward(x_);
  EXPECT_TRUE(is_causal_simplex(head.weights(), 3));
  EXPECT_FALSE(is_causal_simplex(head.weights(), 2));
}

TEST_P(SimplexTest, TheFirstTokenCanOnlyAttendToItself) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.dtype = dtype_});
  head.forward(x_);
  const Tensor first_rows = select(head.weights(), 1, 0);  // (4, 8)
  EXPECT_TRUE(all_close(first_rows, expand(select(eye(8, dtype_), 0, 0), {4, 8}), 0));
}

TEST_P(SimplexTest, EveryAllowedWeightIsPositiveSinceExpIs) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.dtype = dtype_});
  head.forward(x_);
  const Tensor positive = head.weights() > 0.0;
  EXPECT_TRUE(same_bits(positive, expand(attention::causal_mask(8, 8), {4, 8, 8}).contiguous()));
}

TEST_P(SimplexTest, SaturatedWeightsAreStillDistributions) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.dtype = dtype_});
  head.forward(x_ * 1e4);  // scores of the order of 1e8
  EXPECT_TRUE(is_causal_simplex(head.weights()));
  EXPECT_EQ(max(head.weights()).item<double>(), 1.0);
}

TEST_P(SimplexTest, CatchesAMaskAfterTheSoftmax) {
  const Tensor wrong = masked(softmax(scores(), -1), 0.0);
  EXPECT_FALSE(is_causal_simplex(wrong));

  // What is lost is what the future took: row 0 keeps about 1/8 of its weight, the last row all.
  const Tensor row_sums = mean(sum(wrong, -1), 0);  // (8), over the batch
  EXPECT_NEAR(select(row_sums, 0, 0).item<double>(), 1.0 / 8, 0.08);
  EXPECT_NEAR(select(row_sums, 0, 7).item<double>(), 1.0, kTolerance);
  for (int64_t i = 0; i < 7; ++i) EXPECT_LT(select(row_sums, 0, i).item<double>(), 0.97) << i;
}

TEST_P(SimplexTest, CatchesAMaskOfZerosInsteadOfMinusInfinity) {
  EXPECT_FALSE(is_causal_simplex(softmax(masked(scores(), 0.0), -1)));
}

TEST_P(SimplexTest, CatchesALargeFiniteMaskOnceTheScoresAreLarger) {
  const Tensor low = scores() - 1e4;
  EXPECT_FALSE(is_causal_simplex(softmax(masked(low, -1e4), -1)));
  EXPECT_TRUE(is_causal_simplex(softmax(masked(low, -infinity_), -1)));
}

TEST_P(SimplexTest, CatchesAMaskOfTheWrongPolarity) {
  const Tensor flipped =
      masked_fill(scores(), attention::causal_mask(8, 8), -infinity_);  // the last row is empty
  EXPECT_FALSE(is_causal_simplex(softmax(flipped, -1)));
}

TEST_P(SimplexTest, CatchesATriangleOffByOneBothWays) {
  const auto weights_with = [&](int64_t diagonal) {
    const Tensor allowed = tril(ones({8, 8}, DType::boolean), diagonal);
    return softmax(where(allowed, scores(), full({}, -infinity_, dtype_)), -1);
  };
  EXPECT_TRUE(is_causal_simplex(weights_with(0)));
  EXPECT_FALSE(is_causal_simplex(weights_with(1)));
  EXPECT_FALSE(is_causal_simplex(weights_with(-1)));  // row 0 is empty: NaN
}

TEST_P(SimplexTest, CatchesASoftmaxOverQueriesInsteadOfKeys) {
  EXPECT_FALSE(is_causal_simplex(softmax(masked(scores(), -infinity_), -2)));
}

INSTANTIATE_TEST_SUITE_P(Precisions, SimplexTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

// The weights of every head of every multi-head variant.
class MultiHeadSimplexTest : public testing::TestWithParam<MultiHeadCase> {};

TEST_P(MultiHeadSimplexTest, EveryHeadsWeightsAreDistributionsOverThePast) {
  Generator generator(42);
  const attention::MultiHeadAttention layer(GetParam().with_size({.T_max = 8}), generator);
  const Tensor x = normal({4, 8, 32}, GetParam().options.dtype);
  const Tensor weights = layer.forward_with_weights(x).weights;
  EXPECT_EQ(weights.shape(), Shape({4, 4, 8, 8}));
  EXPECT_TRUE(is_causal_simplex(weights, GetParam().options.window));
}

INSTANTIATE_TEST_SUITE_P(Variants, MultiHeadSimplexTest, testing::ValuesIn(multi_head_cases()),
                         layer_name<MultiHeadCase>);

}  // namespace
}  // namespace lookback::test
