// Scale: a score q.k of independent standard normal vectors has variance d_k, so its spread grows
// as sqrt(d_k), and the softmax saturates: nearly all weight on one key, nearly no gradient.
// Divided by sqrt(d_k) the spread is 1 at any width (Vaswani et al. 2017, section 3.2.1).
#include <cmath>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr int64_t B = 2;
constexpr int64_t T = 64;

struct Width {
  int64_t d_k;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const Width& w) {
  return out << "d_k_" << w.d_k << '_' << w.dtype;
}

class ScaleTest : public testing::TestWithParam<Width> {
 protected:
  const double root_ = std::sqrt(static_cast<double>(GetParam().d_k));
  const Tensor q_ = normal({B, T, GetParam().d_k}, GetParam().dtype, 1);
  const Tensor k_ = normal({B, T, GetParam().d_k}, GetParam().dtype, 2);
  const Tensor raw_ = matmul(q_, transpose(k_, -2, -1));  // (B, T, T)

  static double deviation(const Tensor& x) { return sqrt(var(x)).item<double>(); }
  static double largest_weight(const Tensor& scores) {
    return max(softmax(scores, -1)).item<double>();
  }
};

TEST_P(ScaleTest, RawScoresDeviateBySqrtOfTheWidth) {
  EXPECT_NEAR(deviation(raw_), root_, 0.15 * root_);
}

TEST_P(ScaleTest, ScaledScoresDeviateByOne) { EXPECT_NEAR(deviation(raw_ / root_), 1, 0.15); }

TEST_P(ScaleTest, RawWeightsSaturateAndScaledOnesDoNot) {
  EXPECT_GE(largest_weight(raw_), 0.9995);  // prints as 1.000
  EXPECT_LE(largest_weight(raw_ / root_), 0.8);
}

// Saturation is why it matters: dx = diag(p) - p p^T vanishes when p is a corner of the simplex.
TEST_P(ScaleTest, SaturationStarvesTheGradient) {
  const auto gradient_size = [&](double scale) {
    const Tensor scores = (raw_ * scale).detach().set_requires_grad(true);
    const Tensor seed = normal({B, T, T}, GetParam().dtype, 3);
    const Tensor dx = grad(softmax(scores, -1), {scores}, seed)[0];
    return mean(abs(dx)).item<double>();
  };
  EXPECT_LT(gradient_size(1), gradient_size(1 / root_));
}

// What attention itself does: the width of the head, not of the model, is under the root.
TEST_P(ScaleTest, AttentionDividesByTheRootOfTheWidthOfQueryAndKey) {
  const Tensor weights = attention::scaled_dot_product_attention(q_, k_, k_).weights;
  EXPECT_TRUE(all_close(weights, softmax(raw_ / root_, -1), 1e-5));
}

TEST_P(ScaleTest, AnotherScaleCanBeAskedForOnEveryPath) {
  const auto weights = attention::scaled_dot_product_attention(q_, k_, k_, {}, {.scale = 0.01});
  EXPECT_TRUE(all_close(weights.weights, softmax(raw_ * 0.01, -1), 1e-5));
  EXPECT_TRUE(
      all_close(attention::fused_attention(q_, k_, k_, {}, {.scale = 0.01}), weights.output, 1e-5));
  EXPECT_TRUE(all_close(attention::streaming_attention(q_, k_, k_, {}, {.scale = 0.01}),
                        weights.output, 1e-5));
}

INSTANTIATE_TEST_SUITE_P(Widths, ScaleTest,
                         testing::Values(Width{16, DType::f32}, Width{64, DType::f32},
                                         Width{256, DType::f32}, Width{16, DType::f64},
                                         Width{64, DType::f64}, Width{256, DType::f64}),
                         layer_name<Width>);

// d_model 32 with 4 heads: weights are those of width 8.
TEST(ScaleOfHeads, MultiHeadAttentionScalesByTheHeadWidthNotTheModelWidth) {
  Generator generator(5);
  const attention::MultiHeadAttention layer({.d_model = 32, .num_heads = 4, .dtype = DType::f64},
                                            generator);
  const Tensor x = normal({2, 8, 32});
  const auto head = [](const Tensor& y, int64_t h) { return narrow(y, -1, 8 * h, 8); };
  const Tensor q = layer.query.forward(x);
  const Tensor k = layer.key.forward(x);
  const Tensor weights = layer.forward_with_weights(x).weights;  // (2, 4, 8, 8)
  for (int64_t h = 0; h < 4; ++h) {
    const Tensor expected = attention::scaled_dot_product_attention(
                                head(q, h), head(k, h), head(k, h), attention::causal_mask(8, 8),
                                {.scale = 1 / std::sqrt(8.0)})
                                .weights;
    EXPECT_TRUE(all_close(select(weights, 1, h), expected, 1e-14));
  }
}

}  // namespace
}  // namespace lookback::test
