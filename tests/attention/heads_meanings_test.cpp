// The meanings that concern layers of heads: groups of queries that share keys, weights that are
// asked for, the buffer of a head.
#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

class VariantTest : public testing::TestWithParam<MultiHeadCase> {
 protected:
  Generator generator_{42};
  const DType dtype_ = GetParam().options.dtype;
  const attention::MultiHeadAttention layer_{GetParam().with_size({.T_max = 8}), generator_};
  const Tensor x_ = normal_variable({2, 8, 32}, dtype_);
  const double tolerance_ = dtype_ == DType::f32 ? 1e-6 : 1e-14;
};

TEST_P(VariantTest, AskingForWeightsChangesNoBitOfTheOutput) {
  EXPECT_TRUE(same_bits(layer_.forward_with_weights(x_).output, layer_.forward(x_)));
}

TEST_P(VariantTest, AskingForWeightsChangesNoBitOfTheGradients) {
  const std::vector<Tensor> parameters = layer_.parameters();
  const Tensor seed = normal({2, 8, 32}, dtype_, 3);
  const auto plain = grad(layer_.forward(x_), parameters, seed);
  const auto asked = grad(layer_.forward_with_weights(x_).output, parameters, seed);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_bits(asked[i], plain[i])) << i;
}

TEST_P(VariantTest, WeightsAreDetachedAndPerHead) {
  const auto result = layer_.forward_with_weights(x_);
  EXPECT_TRUE(result.output.requires_grad());
  EXPECT_FALSE(result.weights.requires_grad());
  EXPECT_EQ(result.weights.shape(), Shape({2, 4, 8, 8}));
}

// Kv head g serves query heads g r ... g r + r - 1: it is repeated, not tiled.
TEST_P(VariantTest, QueryHeadsOfAGroupAreNeighbours) {
  const int64_t H = 4;
  const int64_t H_kv = layer_.options().num_kv_heads;
  const int64_t r = H / H_kv;
  const int64_t W = GetParam().options.window;
  const Tensor mask =
      W > 0 ? attention::sliding_window_mask(8, 8, W) : attention::causal_mask(8, 8);
  const auto head = [](const Tensor& y, int64_t h) { return narrow(y, -1, 8 * h, 8); };
  std::vector<Tensor> heads;
  for (int64_t h = 0; h < H; ++h) {
    const int64_t g = h / r;
    heads.push_back(attention::scaled_dot_product_attention(head(layer_.query.forward(x_), h),
                                                            head(layer_.key.forward(x_), g),
                                                            head(layer_.value.forward(x_), g), mask)
                        .output);
  }
  EXPECT_TRUE(
      all_close(layer_.forward(x_), layer_.output.forward(cat(heads, -1)), 10 * tolerance_));
}

// What MultiHeadAttention with shared kv heads computes is what it computes with as many kv heads
// as query heads, if each is a copy of the shared one.
TEST_P(VariantTest, SharingAKvHeadEqualsRepeatingItsWeights) {
  attention::MultiHeadAttentionOptions options = layer_.options();
  const int64_t r = options.num_heads / options.num_kv_heads;
  options.num_kv_heads = options.num_heads;
  Generator other(1);
  const attention::MultiHeadAttention full_heads(options, other);
  const auto repeat_rows = [&](const Tensor& from, const Tensor& into) {
    if (!from.defined()) return;
    for (int64_t h = 0; h < options.num_heads; ++h) {
      narrow(into.detach(), 0, 8 * h, 8).copy_(narrow(from.detach(), 0, 8 * (h / r), 8));
    }
  };
  repeat_rows(layer_.key.weight, full_heads.key.weight);
  repeat_rows(layer_.key.bias, full_heads.key.bias);
  repeat_rows(layer_.value.weight, full_heads.value.weight);
  repeat_rows(layer_.value.bias, full_heads.value.bias);
  full_heads.query.weight.detach().copy_(layer_.query.weight.detach());
  full_heads.output.weight.detach().copy_(layer_.output.weight.detach());
  if (options.bias) {
    full_heads.query.bias.detach().copy_(layer_.query.bias.detach());
    full_heads.output.bias.detach().copy_(layer_.output.bias.detach());
  }
  EXPECT_TRUE(same_bits(full_heads.forward(x_), layer_.forward(x_)));
}

TEST_P(VariantTest, CrossAttentionWithItselfIsSelfAttention) {
  EXPECT_TRUE(same_bits(layer_.forward(x_, x_), layer_.forward(x_)));
}

TEST_P(VariantTest, CrossAttentionTakesKeysAndValuesFromTheContextAlone) {
  attention::MultiHeadAttentionOptions options = layer_.options();
  options.causal = false;
  options.window = 0;
  Generator generator(2);
  const attention::MultiHeadAttention cross(options, generator);
  const Tensor context = normal_variable({2, 5, 32}, dtype_, 4);
  const Tensor out = cross.forward(narrow(x_, 1, 0, 3), context);
  EXPECT_EQ(out.shape(), Shape({2, 3, 32}));
  EXPECT_EQ(cross.forward_with_weights(narrow(x_, 1, 0, 3), context).weights.shape(),
            Shape({2, 4, 3, 5}));
  EXPECT_TRUE(same_bits(narrow(out, 1, 0, 1), cross.forward(narrow(x_, 1, 0, 1), context)));
  EXPECT_FALSE(all_zero(grad(sum(out), {context})[0]));
}

INSTANTIATE_TEST_SUITE_P(Variants, VariantTest, testing::ValuesIn(multi_head_cases()),
                         layer_name<MultiHeadCase>);

struct HeadCase {
  bool fused;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const HeadCase& c) {
  return out << (c.fused ? "Fused_" : "Composed_") << c.dtype;
}

class HeadTest : public testing::TestWithParam<HeadCase> {
 protected:
  Generator generator_{42};
  attention::Head head_{
      32, 16, 8, generator_, {.fused = GetParam().fused, .dtype = GetParam().dtype}};
  const Tensor x_ = normal_variable({4, 8, 32}, GetParam().dtype);
};

TEST_P(HeadTest, TheTriangleIsABufferAndNotAParameter) {
  const nn::NamedTensors buffers = head_.named_buffers();
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_EQ(buffers[0].first, "tril");
  EXPECT_TRUE(same_bits(buffers[0].second, attention::causal_mask(8, 8)));
  std::vector<std::string> names;
  for (const auto& [name, tensor] : head_.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"key.weight", "query.weight", "value.weight"}));
}

TEST_P(HeadTest, WeightsAreADetachedCopyOfTheLastMatrix) {
  const Tensor out = head_.forward(x_);
  const Tensor weights = head_.weights();
  EXPECT_FALSE(weights.requires_grad());
  const auto asked = head_.forward_with_weights(x_);
  EXPECT_FALSE(asked.weights.requires_grad());
  EXPECT_TRUE(same_bits(asked.weights, weights));
  EXPECT_TRUE(same_bits(asked.output, out));
  const Tensor before = out.clone();
  weights.fill_(0);  // a copy: neither the next reader nor the graph sees this
  EXPECT_FALSE(all_zero(head_.weights()));
  EXPECT_TRUE(same_bits(out, before));
  EXPECT_FALSE(all_zero(grad(sum(out), {x_})[0]));
}

TEST_P(HeadTest, WeightsAreThoseOfTheLastForward) {
  head_.forward(x_);
  head_.forward(narrow(x_, 1, 0, 5));
  EXPECT_EQ(head_.weights().shape(), Shape({4, 5, 5}));
}

TEST_P(HeadTest, WeightsBeforeTheFirstForwardAreRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>([&] { head_.weights(); }, {"[head]", "forward first"}));
}

TEST_P(HeadTest, AfterTrainingChangedTheParametersTheLastMatrixIsStillTheLastOne) {
  head_.forward(x_);
  const Tensor weights = head_.weights();
  const NoGradGuard no_grad;
  head_.query.weight.fill_(0);
  head_.key.weight.fill_(0);
  EXPECT_TRUE(same_bits(head_.weights(), weights));
}

TEST_P(HeadTest, ASequenceWithoutABatchIsABatchOfOne) {
  const Tensor one = select(x_, 0, 0);
  EXPECT_EQ(head_.forward(one).shape(), Shape({8, 16}));
  EXPECT_TRUE(same_bits(head_.forward(one), select(head_.forward(x_), 0, 0)));
}

INSTANTIATE_TEST_SUITE_P(Paths, HeadTest,
                         testing::Values(HeadCase{false, DType::f32}, HeadCase{false, DType::f64},
                                         HeadCase{true, DType::f32}, HeadCase{true, DType::f64}),
                         layer_name<HeadCase>);

}  // namespace
}  // namespace lookback::test
