// Shapes that fit go in and come out; shapes that do not are refused, with a message that says
// what was wanted and what was given, before anything has changed.
#include "attention/attention.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::MultiHeadAttention;
using attention::MultiHeadAttentionOptions;

void expect_refusal(const std::function<void()>& call, const std::vector<std::string>& parts) {
  EXPECT_TRUE(throws<std::invalid_argument>(call, parts));
}

class ShapeTest : public testing::TestWithParam<LayerCase> {
 protected:
  static constexpr int64_t kTMax = 8;
  const LayerSize size_{.T_max = kTMax};
  const CausalLayer layer_ = GetParam().make(size_);
  Tensor input(int64_t B, int64_t T) const { return normal({B, T, 32}, GetParam().dtype); }
};

TEST_P(ShapeTest, EveryLengthUpToTMaxWorks) {
  for (int64_t T = 0; T <= kTMax; ++T) {
    const Tensor y = layer_.forward(input(2, T));
    EXPECT_EQ(y.shape(), Shape({2, T, y.size(-1)}));
    EXPECT_EQ(y.dtype(), GetParam().dtype);
  }
}

TEST_P(ShapeTest, ALongerSequenceIsRefused) {
  expect_refusal([&] { layer_.forward(input(2, 9)); }, {"longer than", "[2, 9, 32]", "8"});
}

TEST_P(ShapeTest, AnotherWidthOrDtypeIsRefused) {
  expect_refusal([&] { layer_.forward(normal({2, 8, 31}, GetParam().dtype)); }, {"[2, 8, 31]"});
  const DType other = GetParam().dtype == DType::f32 ? DType::f64 : DType::f32;
  expect_refusal([&] { layer_.forward(to(input(2, 8), other)); }, {"f32", "f64"});
}

TEST_P(ShapeTest, AnEmptyBatchGivesAnEmptyResult) {
  EXPECT_EQ(layer_.forward(input(0, 8)).size(0), 0);
}

INSTANTIATE_TEST_SUITE_P(AllLayers, ShapeTest, testing::ValuesIn(causal_layers()),
                         layer_name<LayerCase>);

class VariantShapeTest : public testing::TestWithParam<MultiHeadCase> {};

TEST_P(VariantShapeTest, TheModelWidthComesBackAndWeightsArePerHead) {
  Generator generator(1);
  const MultiHeadAttention layer(GetParam().with_size({.d_head = 16, .heads = 4, .T_max = 8}),
                                 generator);
  const auto result = layer.forward_with_weights(normal({2, 8, 64}, GetParam().options.dtype));
  EXPECT_EQ(result.output.shape(), Shape({2, 8, 64}));
  EXPECT_EQ(result.weights.shape(), Shape({2, 4, 8, 8}));
}

INSTANTIATE_TEST_SUITE_P(Variants, VariantShapeTest, testing::ValuesIn(multi_head_cases()),
                         layer_name<MultiHeadCase>);

// Options that do not fit together, and what is said about them. `draws` proves that a refused
// construction has taken no random number: the next layer is what it would have been.
class RefusedOptionsTest : public testing::Test {
 protected:
  ~RefusedOptionsTest() override { EXPECT_EQ(generator_.next_bits(), Generator(1).next_bits()); }

  void expect_refused(const MultiHeadAttentionOptions& o, const std::vector<std::string>& parts) {
    expect_refusal([&] { MultiHeadAttention(o, generator_); }, parts);
    MultiHeadAttentionOptions with_length = o;
    if (o.max_length == 0) with_length.max_length = 8;
    expect_refusal([&] { attention::ConcatHeads(with_length, generator_); }, parts);
  }

  Generator generator_{1};
};

TEST_F(RefusedOptionsTest, HeadsThatDoNotDivideTheModelWidth) {
  expect_refused({.d_model = 10, .num_heads = 4},
                 {"[multi_head_attention] num_heads must divide d_model; got d_model 10 and "
                  "num_heads 4"});
}

TEST_F(RefusedOptionsTest, KvHeadsThatDoNotDivideTheHeads) {
  expect_refused({.d_model = 12, .num_heads = 6, .num_kv_heads = 4},
                 {"num_kv_heads must divide num_heads", "6", "4"});
  expect_refused({.d_model = 12, .num_heads = 2, .num_kv_heads = 4}, {"must divide"});
  expect_refused({.d_model = 12, .num_heads = 6, .num_kv_heads = -1}, {"must not be negative"});
}

TEST_F(RefusedOptionsTest, NoWidthOrNoHeads) {
  expect_refused({.d_model = 0}, {"must be at least 1"});
  expect_refused({.d_model = 8, .num_heads = 0}, {"must be at least 1"});
  expect_refused({.d_model = 8, .num_heads = -2}, {"must be at least 1"});
}

TEST_F(RefusedOptionsTest, NegativeLengthsAndWindows) {
  expect_refused({.d_model = 8, .max_length = -1}, {"max_length"});
  expect_refused({.d_model = 8, .window = -1}, {"window must not be negative"});
  expect_refused({.d_model = 8, .causal = false, .window = 2}, {"a window needs causal"});
}

TEST_F(RefusedOptionsTest, HeadsOneByOneWithoutALongestSequence) {
  expect_refusal([&] { attention::ConcatHeads({.d_model = 8}, generator_); },
                 {"[concat_heads]", "max_length"});
}

TEST_F(RefusedOptionsTest, HeadsOfImpossibleSizes) {
  using attention::Head;
  expect_refusal([&] { Head(8, 4, 0, generator_); }, {"[head]", "T_max must be at least 1"});
  expect_refusal([&] { Head(8, 4, 1'000'000'000, generator_); }, {"[head]", "too large"});
  expect_refusal([&] { Head(8, 4, 8, generator_, {.dtype = DType::i64}); }, {"f32 or f64", "i64"});
  expect_refusal([&] { Head(0, 4, 8, generator_); }, {"at least 1"});
  expect_refusal([&] { Head(8, 0, 8, generator_); }, {"at least 1"});
  expect_refusal([&] { Head(8, 4, 8, generator_, {.window = -2}); }, {"[head]", "negative"});
  expect_refusal([&] { Head(8, 4, 8, generator_, {.causal = false, .window = 2}); },
                 {"[head]", "needs causal"});
}

TEST(RefusedInput, OfHeadsAndLayersOfTheWrongRank) {
  Generator generator(1);
  attention::Head head(8, 4, 8, generator);
  expect_refusal([&] { head.forward(zeros({8})); }, {"[head]", "(B, T, d) or (T, d)", "[8]"});
  expect_refusal([&] { head.forward(zeros({1, 1, 8, 8})); }, {"[head]", "[1, 1, 8, 8]"});
  const MultiHeadAttention layer({.d_model = 8}, generator);
  expect_refusal([&] { layer.forward(zeros({4, 8})); }, {"(B, T, d_model)", "[4, 8]"});
}

TEST(RefusedInput, AContextOfAnotherBatch) {
  Generator generator(1);
  const MultiHeadAttention layer({.d_model = 8}, generator);
  expect_refusal(
      [&] {
        layer.forward(zeros({2, 4, 8}), zeros({3, 4, 8}));
      },
      {"same batch", "[2, 4, 8]", "[3, 4, 8]"});
}

TEST(RefusedInput, WeightsOfAnotherFunction) {
  Generator generator(1);
  const MultiHeadAttentionOptions options{.d_model = 8, .num_heads = 2, .max_length = 4};
  const MultiHeadAttention source(options, generator);
  for (const auto& change : std::vector<std::function<void(MultiHeadAttentionOptions&)>>{
           [](auto& o) { o.num_heads = 4; }, [](auto& o) { o.num_kv_heads = 1; },
           [](auto& o) { o.bias = false; }, [](auto& o) { o.window = 2; },
           [](auto& o) { o.causal = false; }, [](auto& o) { o.dtype = DType::f64; }}) {
    MultiHeadAttentionOptions other = options;
    change(other);
    attention::ConcatHeads heads(other, generator);
    expect_refusal([&] { heads.copy_weights_from(source); }, {"[concat_heads]", "agree"});
  }
}

TEST(RefusedInput, OfTheFormula) {
  using attention::scaled_dot_product_attention;
  const Tensor x = zeros({2, 5, 4});
  const std::string name = "[scaled_dot_product_attention]";
  expect_refusal(
      [&] {
        scaled_dot_product_attention(x, zeros({2, 5, 3}), x);
      },
      {name, "same width", "[2, 5, 4]", "[2, 5, 3]"});
  expect_refusal(
      [&] {
        scaled_dot_product_attention(x, x, zeros({2, 6, 4}));
      },
      {name, "same length", "[2, 6, 4]"});
  expect_refusal([&] { scaled_dot_product_attention(zeros({4}), x, x); },
                 {name, "at least two dimensions", "[4]"});
  expect_refusal(
      [&] {
        scaled_dot_product_attention(x, x, x, ones({5, 5}));
      },
      {name, "must be boolean, true = may attend; got f32"});
  expect_refusal(
      [&] {
        scaled_dot_product_attention(x, x, x, ones({5, 4}, DType::boolean));
      },
      {"[5, 4]"});
  expect_refusal(
      [&] {
        scaled_dot_product_attention(x, zeros({3, 5, 4}), zeros({3, 5, 4}));
      },
      {"[matmul]", "broadcast"});
}

}  // namespace
}  // namespace lookback::test
