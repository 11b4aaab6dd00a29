// Training: a seed decides everything. The same seed gives the same bits of every parameter after
// every step, with any number of threads; and the loss goes down.
#include "attention/attention.h"
#include "engine/ops.h"
#include "nn/nn.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr int64_t kVocabulary = 11;
constexpr int64_t T = 12;
constexpr int64_t D = 16;

// The smallest language model: token and position embeddings, one layer, logits.
struct Model : nn::Module {
  Model(const LayerCase& layer_case, Generator& generator)
      : tokens(kVocabulary, D, generator, layer_case.dtype),
        positions(T, D, generator, layer_case.dtype),
        layer(
            layer_case.make({.d_head = 8, .heads = 2, .T_max = T, .seed = generator.next_bits()})),
        logits(width(layer_case), kVocabulary, generator, {.dtype = layer_case.dtype}) {
    register_module("tokens", tokens);
    register_module("positions", positions);
    register_module("layer", *layer.module);
    register_module("logits", logits);
  }
  int64_t width(const LayerCase& layer_case) const {
    return layer.forward(zeros({1, 1, D}, layer_case.dtype)).size(-1);
  }
  Tensor forward(const Tensor& text) const {
    return logits.forward(layer.forward(tokens.forward(text) + positions.forward(arange(T))));
  }

  nn::Embedding tokens;
  nn::Embedding positions;
  CausalLayer layer;
  nn::Linear logits;
};

struct Trained {
  std::vector<double> losses;
  std::vector<Tensor> parameters;
};

Trained train(const LayerCase& layer_case, uint64_t seed, int64_t steps) {
  Generator generator(seed);
  const Model model(layer_case, generator);
  nn::AdamW optimizer(model.parameters(), {.lr = 0.01});
  Trained run;
  for (int64_t step = 0; step < steps; ++step) {
    // Each text counts up from a random start: learnable, and a new batch every step.
    std::vector<int64_t> text;
    std::vector<int64_t> next;
    for (int64_t b = 0; b < 3; ++b) {
      const int64_t start = generator.next_below(kVocabulary);
      for (int64_t t = 0; t < T; ++t) {
        text.push_back((start + t) % kVocabulary);
        next.push_back((start + t + 1) % kVocabulary);
      }
    }
    optimizer.zero_grad();
    const Tensor loss = nn::language_model_loss(model.forward(from_vector(text, {3, T})),
                                                from_vector(next, {3, T}));
    loss.backward();
    optimizer.step();
    run.losses.push_back(loss.item<double>());
  }
  run.parameters = model.parameters();
  return run;
}

bool same(const Trained& a, const Trained& b) {
  bool equal = a.losses == b.losses && a.parameters.size() == b.parameters.size();
  for (size_t i = 0; equal && i < a.parameters.size(); ++i) {
    equal = same_bits(a.parameters[i], b.parameters[i]);
  }
  return equal;
}

class TrainingTest : public testing::TestWithParam<LayerCase> {};

TEST_P(TrainingTest, ASeedDecidesEveryBit) {
  const Trained run = train(GetParam(), 1, 5);
  EXPECT_TRUE(same(train(GetParam(), 1, 5), run));
  EXPECT_FALSE(same(train(GetParam(), 2, 5), run));
}

TEST_P(TrainingTest, TheNumberOfThreadsDecidesNone) {
  const auto with_threads = [&](int threads) {
    const ThreadCount count(threads);
    return train(GetParam(), 1, 5);
  };
  const Trained run = with_threads(1);
  for (const int threads : {2, 3, 8}) EXPECT_TRUE(same(with_threads(threads), run)) << threads;
}

TEST_P(TrainingTest, TheLossGoesDown) {
  const Trained run = train(GetParam(), 1, 40);
  EXPECT_LT(run.losses.back(), 0.6 * run.losses.front());
}

INSTANTIATE_TEST_SUITE_P(AllLayers, TrainingTest, testing::ValuesIn(causal_layers()),
                         layer_name<LayerCase>);

}  // namespace
}  // namespace lookback::test
