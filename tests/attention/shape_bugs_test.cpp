// The classic shape bugs of attention/SHAPES.md, executed. Each mutant runs without an error for
// the sizes given here, which is what makes it dangerous; and each contradicts a theorem.
#include <cmath>

#include "attention/attention.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::causal_mask;
using attention::scaled_dot_product_attention;

constexpr double kTolerance = 1e-9;

Tensor t(const Tensor& x) { return transpose(x, -2, -1); }

// True if no output token depends on a later input token: the perturbation theorem.
bool is_causal(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const Tensor before = f(x);
  for (int64_t i = 1; i < x.size(1); ++i) {
    const Tensor changed = x.clone();
    select(changed, 1, i).copy_(normal({x.size(0), x.size(2)}, DType::f64, 99));
    if (!same_bits(narrow(f(changed), 1, 0, i), narrow(before, 1, 0, i))) return false;
  }
  return true;
}

bool rows_sum_to_one(const Tensor& weights) {
  return all_close(sum(weights, -1), ones(sum(weights, -1).shape(), DType::f64), kTolerance);
}

class ShapeBug : public testing::Test {
 protected:
  static constexpr int64_t B = 2;
  static constexpr int64_t T = 4;
  static constexpr int64_t H = 2;
  static constexpr int64_t d = 4;  // equal to T
  static constexpr int64_t D = H * d;

  Tensor split(const Tensor& x) const { return transpose(reshape(x, {B, T, H, d}), 1, 2); }
  Tensor merged(const Tensor& x) const { return reshape(transpose(x, 1, 2), {B, T, D}); }
  Tensor attend(const Tensor& heads) const {  // (B, H, T, d), each token its own q, k and v
    return scaled_dot_product_attention(heads, heads, heads, causal_mask(T, T)).output;
  }

  const Tensor x_ = normal({B, T, D});
};

TEST_F(ShapeBug, None) {
  EXPECT_TRUE(is_causal([&](const Tensor& x) { return merged(attend(split(x))); }, x_));
}

TEST_F(ShapeBug, KNotTransposedFitsWhenTIsDk) {
  const auto mutant = [&](const Tensor& x) {
    const Tensor h = split(x);
    const Tensor scores = where(causal_mask(T, T), matmul(h, h) / 2.0,
                                full({}, -std::numeric_limits<double>::infinity(), DType::f64));
    return merged(matmul(softmax(scores, -1), h));
  };
  EXPECT_EQ(mutant(x_).shape(), x_.shape());
  EXPECT_FALSE(is_causal(mutant, x_));
}

TEST_F(ShapeBug, WNotTransposedFitsWhenInIsOut) {
  Generator generator(1);
  const nn::Linear linear(D, D, generator, {.bias = false, .dtype = DType::f64});
  EXPECT_EQ(matmul(x_, linear.weight).shape(), linear.forward(x_).shape());
  EXPECT_FALSE(all_close(matmul(x_, linear.weight), linear.forward(x_), 0.01));
}

TEST_F(ShapeBug, HeadsSplitByReshapeMixTokens) {
  const auto mutant = [&](const Tensor& x) { return merged(attend(reshape(x, {B, H, T, d}))); };
  EXPECT_EQ(mutant(x_).shape(), x_.shape());
  EXPECT_FALSE(is_causal(mutant, x_));
}

TEST_F(ShapeBug, HeadsMergedWithoutTheTransposeMixTokens) {
  const auto mutant = [&](const Tensor& x) { return reshape(attend(split(x)), {B, T, D}); };
  EXPECT_EQ(mutant(x_).shape(), x_.shape());
  EXPECT_FALSE(is_causal(mutant, x_));
}

// The two together cancel for the split alone, and yet mix tokens in between.
TEST_F(ShapeBug, BothReshapesUndoEachOtherAndStillMixTokens) {
  EXPECT_TRUE(same_bits(reshape(reshape(x_, {B, H, T, d}), {B, T, D}), x_));
  const auto mutant = [&](const Tensor& x) {
    return reshape(attend(reshape(x, {B, H, T, d})), {B, T, D});
  };
  EXPECT_FALSE(all_close(mutant(x_), merged(attend(split(x_))), 0.01));
}

TEST_F(ShapeBug, SoftmaxOverTheQueriesFitsASquare) {
  const Tensor scores = matmul(x_, t(x_));
  EXPECT_EQ(softmax(scores, -2).shape(), softmax(scores, -1).shape());
  EXPECT_TRUE(rows_sum_to_one(softmax(scores, -1)));
  EXPECT_FALSE(rows_sum_to_one(softmax(scores, -2)));
}

TEST_F(ShapeBug, ScaleByTheModelWidthFlattensTheWeights) {
  const Tensor h = split(x_);
  const auto spread = [&](int64_t width) {
    const Tensor scores = matmul(h, t(h)) / std::sqrt(static_cast<double>(width));
    return sqrt(var(scores)).item<double>();
  };
  EXPECT_NEAR(spread(d) / spread(D), std::sqrt(static_cast<double>(H)), kTolerance);
}

TEST_F(ShapeBug, ATopLeftMaskHidesTheCacheFromTheNewestToken) {
  const Tensor top_left = tril(ones({1, T}, DType::boolean));
  EXPECT_EQ(top_left.shape(), causal_mask(1, T).shape());
  EXPECT_TRUE(has_values(top_left, {1, T}, {1, 0, 0, 0}));
  EXPECT_TRUE(has_values(causal_mask(1, T), {1, T}, {1, 1, 1, 1}));
}

TEST_F(ShapeBug, ARowMaximumWithoutKeepdimFitsWhenBIsT) {
  const Tensor x = normal({T, T, D});  // B = T
  const Tensor scores = matmul(x, t(x)) * 1000.0;
  const auto by_hand = [&](bool keepdim) {
    const Tensor e = exp(scores - max(scores, -1, keepdim));
    return e / sum(e, -1, true);
  };
  EXPECT_EQ(by_hand(false).shape(), scores.shape());
  EXPECT_TRUE(rows_sum_to_one(by_hand(true)));
  EXPECT_FALSE(rows_sum_to_one(by_hand(false)));  // overflow: NaN
}

TEST_F(ShapeBug, APaddingMaskPerItemReadsAsAMaskPerQueryWhenBIsT) {
  const Tensor x = normal({T, T, D});                      // B = T
  const Tensor real = tril(ones({T, T}, DType::boolean));  // item b has b + 1 real tokens
  const Tensor right = scaled_dot_product_attention(x, x, x, unsqueeze(real, 1)).weights;
  const Tensor wrong = scaled_dot_product_attention(x, x, x, real).weights;
  EXPECT_EQ(wrong.shape(), right.shape());
  const auto hidden_weight = [&](const Tensor& weights) {  // on the padding of item 0
    return sum(narrow(select(weights, 0, 0), 1, 1, T - 1)).item<double>();
  };
  EXPECT_EQ(hidden_weight(right), 0);
  EXPECT_GT(hidden_weight(wrong), 0.1);
}

TEST_F(ShapeBug, TiledKvHeadsServeOtherQueriesThanRepeatedOnes) {
  const Tensor kv = normal({B, 2, T, d}, DType::f64, 2);
  const Tensor q = normal({B, 4, T, d}, DType::f64, 3);
  const auto attend_with = [&](const std::vector<int64_t>& group) {
    const Tensor heads = index_select(kv, 1, from_vector(group, {4}));
    return scaled_dot_product_attention(q, heads, heads).output;
  };
  const Tensor right = attention::fused_attention(q, kv, kv);
  EXPECT_TRUE(all_close(attend_with({0, 0, 1, 1}), right, kTolerance));
  EXPECT_FALSE(all_close(attend_with({0, 1, 0, 1}), right, 0.01));
}

TEST_F(ShapeBug, SqueezingLosesABatchOfOne) {
  EXPECT_EQ(squeeze(narrow(x_, 0, 0, 2)).shape(), Shape({2, T, D}));
  EXPECT_EQ(squeeze(narrow(x_, 0, 0, 1)).shape(), Shape({T, D}));
}

}  // namespace
}  // namespace lookback::test
