// The layers: what they compute by hand, what PyTorch says (tests/data/modules.txt), their
// derivatives, what they refuse.
#include <cmath>

#include "engine/backward.h"
#include "engine/ops.h"
#include "nn/nn.h"
#include "tests/support/golden.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

void expect_refusal(const std::function<void()>& call, const std::vector<std::string>& parts) {
  EXPECT_TRUE(throws<std::invalid_argument>(call, parts));
}

class LayersTest : public testing::TestWithParam<DType> {
 protected:
  Tensor numbers(const std::vector<double>& values, const Shape& shape) const {
    return to(from_vector(values, shape), GetParam());
  }
  void expect_parity(const std::string& name, const std::vector<std::string>& keys,
                     const TensorFunction& fn) const {
    static const Golden golden("tests/data/modules.txt");
    golden.expect(name, keys, GetParam(), fn);
  }
  Generator generator_{1};
};

TEST_P(LayersTest, LinearIsXTimesWTransposedPlusB) {
  nn::Linear linear(2, 3, generator_, {.dtype = GetParam()});
  linear.weight = numbers({1, 2,  //
                           3, 4,  //
                           5, 6},
                          {3, 2});
  linear.bias = numbers({10, 20, 30}, {3});
  EXPECT_TRUE(has_values(linear.forward(numbers({1, -1}, {2})), {3}, {9, 19, 29}));
  EXPECT_TRUE(has_values(linear.forward(numbers({1, 0, 0, 1}, {1, 2, 2})), {1, 2, 3},
                         {11, 23, 35, 12, 24, 36}));
}

TEST_P(LayersTest, LinearEqualsPyTorch) {
  nn::Linear linear(5, 4, generator_, {.dtype = GetParam()});
  expect_parity("linear", {"input", "weight", "bias"}, [&](const std::vector<Tensor>& in) {
    linear.weight = in[1];
    linear.bias = in[2];
    return linear.forward(in[0]);
  });
}

TEST_P(LayersTest, LinearBeginsUniformWithinOneOverTheRootOfItsInputs) {
  const nn::Linear linear(64, 300, generator_, {.dtype = GetParam()});
  EXPECT_EQ(linear.weight.shape(), Shape({300, 64}));
  EXPECT_EQ(linear.bias.shape(), Shape({300}));
  for (const Tensor& parameter : {linear.weight, linear.bias}) {
    EXPECT_LE(max(abs(parameter)).item<double>(), 1.0 / 8);
    EXPECT_GE(max(abs(parameter)).item<double>(), 0.9 / 8);
  }
  // Uniform in [-b, b] has variance b^2 / 3.
  EXPECT_NEAR(var(linear.weight).item<double>(), 1.0 / 64 / 3, 1e-4);
}

TEST_P(LayersTest, LinearWithoutBiasHasOneParameter) {
  const nn::Linear linear(2, 3, generator_, {.bias = false, .dtype = GetParam()});
  EXPECT_FALSE(linear.bias.defined());
  EXPECT_EQ(linear.parameters().size(), 1u);
  EXPECT_TRUE(all_zero(linear.forward(zeros({4, 2}, GetParam()))));
}

TEST_P(LayersTest, EachRowOfALinearHasTheSameBitsAlone) {
  const nn::Linear linear(33, 17, generator_, {.dtype = GetParam()});
  const Tensor x = normal({5, 7, 33}, GetParam());
  const Tensor all = linear.forward(x);
  for (int64_t b = 0; b < 5; ++b) {
    for (int64_t t = 0; t < 7; ++t) {
      EXPECT_TRUE(same_bits(linear.forward(select(select(x, 0, b), 0, t)),
                            select(select(all, 0, b), 0, t)));
    }
  }
}

TEST_P(LayersTest, EmbeddingReturnsRows) {
  const nn::Embedding table(5, 3, generator_, GetParam());
  const Tensor index = from_vector<int64_t>({4, 0, 4}, {3});
  const Tensor rows = table.forward(index);
  EXPECT_TRUE(same_bits(select(rows, 0, 0), select(table.weight, 0, 4)));
  EXPECT_TRUE(same_bits(select(rows, 0, 1), select(table.weight, 0, 0)));
  EXPECT_EQ(table.forward(reshape(index, {1, 3})).shape(), Shape({1, 3, 3}));
}

TEST_P(LayersTest, EmbeddingSumsTheGradientsOfARepeatedToken) {
  const nn::Embedding table(5, 2, generator_, GetParam());
  sum(table.forward(from_vector<int64_t>({4, 0, 4}, {3}))).backward();
  EXPECT_TRUE(has_values(table.weight.grad(), {5, 2}, {1, 1, 0, 0, 0, 0, 0, 0, 2, 2}));
}

TEST_P(LayersTest, EmbeddingEqualsPyTorch) {
  nn::Embedding table(6, 3, generator_, GetParam());
  expect_parity("embedding", {"weight"}, [&](const std::vector<Tensor>& in) {
    table.weight = in[0];
    return table.forward(from_vector<int64_t>({0, 4, 2, 4, 4, 1}, {2, 3}));
  });
}

TEST_P(LayersTest, EmbeddingRefusesATokenThatItDoesNotHave) {
  const nn::Embedding table(5, 3, generator_, GetParam());
  for (const int64_t token : {int64_t{5}, int64_t{-1}}) {
    EXPECT_TRUE(throws<std::out_of_range>(
        [&] {
          table.forward(from_vector<int64_t>({0, token}, {2}));
        },
        {"[embedding]", std::to_string(token), "5"}));
  }
}

TEST_P(LayersTest, LayerNormBeginsAsPlainNormalisation) {
  const nn::LayerNorm norm(64, {.dtype = GetParam()});
  const Tensor y = norm.forward(normal({3, 64}, GetParam()) * 5.0 + 7.0);
  EXPECT_TRUE(all_close(mean(y, -1), zeros({3}, GetParam()), 1e-6));
  EXPECT_TRUE(all_close(var(y, -1, false, 0), ones({3}, GetParam()), 1e-5));
}

TEST_P(LayersTest, LayerNormEqualsPyTorch) {
  nn::LayerNorm norm(7, {.dtype = GetParam()});
  expect_parity("layer_norm", {"x", "weight", "bias"}, [&](const std::vector<Tensor>& in) {
    norm.weight = in[1];
    norm.bias = in[2];
    return norm.forward(in[0]);
  });
}

TEST_P(LayersTest, LayerNormDoesNotCareAboutShiftAndScale) {
  const nn::LayerNorm norm(16, {.eps = 0, .dtype = GetParam()});
  const Tensor x = normal({3, 16}, GetParam());
  EXPECT_TRUE(all_close(norm.forward(x * 4.0 + 3.0), norm.forward(x), 1e-5));
}

TEST_P(LayersTest, LayerNormHasEpsInsideTheRoot) {
  const nn::LayerNorm norm(2, {.eps = 3, .dtype = GetParam()});
  // (-1, 1): mean 0, variance 1, so each is divided by sqrt(1 + 3) = 2.
  EXPECT_TRUE(has_values(norm.forward(numbers({-1, 1}, {2})), {2}, {-0.5, 0.5}, 1e-7));
}

TEST_P(LayersTest, MLPEqualsPyTorch) {
  nn::MLP mlp(4, 16, generator_, {.dtype = GetParam()});
  expect_parity("mlp", {"x", "w1", "b1", "w2", "b2"}, [&](const std::vector<Tensor>& in) {
    mlp.up.weight = in[1];
    mlp.up.bias = in[2];
    mlp.down.weight = in[3];
    mlp.down.bias = in[4];
    return mlp.forward(in[0]);
  });
}

TEST_P(LayersTest, LanguageModelLossEqualsPyTorch) {
  expect_parity("language_model_loss", {"logits"}, [](const std::vector<Tensor>& in) {
    return nn::language_model_loss(in[0], from_vector<int64_t>({0, 4, 2, 3, 3, 1}, {2, 3}));
  });
}

TEST_P(LayersTest, LanguageModelLossOfNoKnowledgeIsTheLogarithmOfTheVocabulary) {
  const Tensor loss =
      nn::language_model_loss(zeros({2, 3, 50}, GetParam()), zeros({2, 3}, DType::i64));
  EXPECT_NEAR(loss.item<double>(), std::log(50.0), 1e-6);
}

TEST_P(LayersTest, WhatDoesNotFitIsRefused) {
  const nn::Linear linear(2, 3, generator_, {.dtype = GetParam()});
  expect_refusal(
      [&] {
        linear.forward(zeros({4, 3}, GetParam()));
      },
      {"[linear]", "[4, 3]", "weight [3, 2]"});
  expect_refusal([&] { linear.forward(zeros({}, GetParam())); }, {"[linear]"});
  expect_refusal([&] { nn::Linear(0, 3, generator_); }, {"[linear]", "at least 1", "0 and 3"});
  expect_refusal([&] { nn::Embedding(5, 0, generator_); }, {"[embedding]", "5 and 0"});
  expect_refusal([&] { nn::LayerNorm(0); }, {"[layer_norm]", "got 0"});
  expect_refusal([&] { nn::LayerNorm(2, {.eps = -1}); }, {"[layer_norm]", "eps", "-1"});
  const nn::LayerNorm norm(4, {.dtype = GetParam()});
  expect_refusal([&] { norm.forward(zeros({2, 3}, GetParam())); }, {"[layer_norm]", "[2, 3]"});
  expect_refusal(
      [&] {
        nn::language_model_loss(zeros({2, 3, 5}, GetParam()), zeros({2, 4}, DType::i64));
      },
      {"[language_model_loss]", "[2, 3, 5]", "[2, 4]"});
}

INSTANTIATE_TEST_SUITE_P(Precisions, LayersTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

}  // namespace
}  // namespace lookback::test
