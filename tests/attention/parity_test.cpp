// Parity: values and all gradients of the attention layers equal what PyTorch computes (golden
// values in tests/data/modules.txt, made by make_golden_modules.py beside it), composed and fused,
// float64 to 1e-10 and float32 to 1e-5.
#include "attention/attention.h"
#include "engine/ops.h"
#include "tests/support/golden.h"
#include "tests/support/layers.h"

namespace lookback::test {
namespace {

using attention::MultiHeadAttentionOptions;
using Keys = std::vector<std::string>;

struct ParityCase {
  bool fused;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const ParityCase& c) {
  return out << (c.fused ? "Fused_" : "Composed_") << c.dtype;
}

const Golden& golden() {
  static const Golden values("tests/data/modules.txt");
  return values;
}

class ParityTest : public testing::TestWithParam<ParityCase> {
 protected:
  void expect_parity(const std::string& name, const Keys& keys, const TensorFunction& fn) const {
    golden().expect(name, keys, GetParam().dtype, fn);
  }
  // q, k, v -> softmax(q k^T / sqrt(d_k)) v
  void expect_formula(const std::string& name, const attention::FusedOptions& options) const {
    expect_parity(name, {"q", "k", "v"}, [&](const std::vector<Tensor>& in) {
      if (GetParam().fused) return attention::fused_attention(in[0], in[1], in[2], {}, options);
      const int64_t Tq = in[0].size(1);
      const int64_t Tk = in[1].size(1);
      const Tensor mask = options.window > 0
                              ? attention::sliding_window_mask(Tq, Tk, options.window)
                              : attention::causal_mask(Tq, Tk);
      return attention::scaled_dot_product_attention(in[0], in[1], in[2], mask).output;
    });
  }
  void expect_multi_head(const std::string& name, MultiHeadAttentionOptions o,
                         bool cross = false) const {
    o.fused = GetParam().fused;
    o.dtype = GetParam().dtype;
    Generator generator(1);
    attention::MultiHeadAttention layer(o, generator);
    std::vector<Tensor*> slots = {&layer.query.weight, &layer.key.weight, &layer.value.weight,
                                  &layer.output.weight};
    Keys keys = {"x", "wq", "wk", "wv", "wo"};
    if (o.bias) {
      for (const char* key : {"bq", "bk", "bv", "bo"}) keys.push_back(key);
      for (nn::Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output}) {
        slots.push_back(&linear->bias);
      }
    }
    if (cross) keys.push_back("context");
    expect_parity(name, keys, [&](const std::vector<Tensor>& in) {
      for (size_t i = 0; i < slots.size(); ++i) *slots[i] = in[1 + i];
      return cross ? layer.forward(in[0], in.back()) : layer.forward(in[0]);
    });
  }
};

TEST_P(ParityTest, CausalAttention) { expect_formula("attention", {.causal = true}); }

TEST_P(ParityTest, CausalAttentionWithMoreKeysThanQueries) {
  expect_formula("more_keys", {.causal = true});
}

TEST_P(ParityTest, SlidingWindow) { expect_formula("window", {.causal = true, .window = 3}); }

TEST_P(ParityTest, Head) {
  Generator generator(1);
  attention::Head head(6, 4, 5, generator, {.fused = GetParam().fused, .dtype = GetParam().dtype});
  expect_parity("head", {"x", "query", "key", "value"}, [&](const std::vector<Tensor>& in) {
    head.query.weight = in[1];
    head.key.weight = in[2];
    head.value.weight = in[3];
    return head.forward(in[0]);
  });
}

TEST_P(ParityTest, MultiHeadAttention) {
  expect_multi_head("multi_head", {.d_model = 6, .num_heads = 2});
}

TEST_P(ParityTest, MultiHeadAttentionWithoutBias) {
  expect_multi_head("no_bias", {.d_model = 6, .num_heads = 3, .bias = false});
}

TEST_P(ParityTest, GroupedQueriesAgainstRepeatedKvHeads) {
  expect_multi_head("grouped", {.d_model = 8, .num_heads = 4, .num_kv_heads = 2});
}

TEST_P(ParityTest, MultiQueryAgainstOneRepeatedKvHead) {
  expect_multi_head("multi_query", {.d_model = 8, .num_heads = 4, .num_kv_heads = 1});
}

TEST_P(ParityTest, CrossAttention) {
  expect_multi_head("cross", {.d_model = 6, .num_heads = 2, .causal = false}, true);
}

TEST_P(ParityTest, Block) {
  Generator generator(1);
  attention::Block block(
      {.d_model = 6, .num_heads = 2, .fused = GetParam().fused, .dtype = GetParam().dtype},
      generator);
  const std::vector<std::pair<const char*, Tensor*>> slots = {
      {"wq", &block.attention.query.weight}, {"wk", &block.attention.key.weight},
      {"wv", &block.attention.value.weight}, {"wo", &block.attention.output.weight},
      {"bq", &block.attention.query.bias},   {"bk", &block.attention.key.bias},
      {"bv", &block.attention.value.bias},   {"bo", &block.attention.output.bias},
      {"n1w", &block.attention_norm.weight}, {"n1b", &block.attention_norm.bias},
      {"n2w", &block.mlp_norm.weight},       {"n2b", &block.mlp_norm.bias},
      {"w1", &block.mlp.up.weight},          {"b1", &block.mlp.up.bias},
      {"w2", &block.mlp.down.weight},        {"b2", &block.mlp.down.bias}};
  Keys keys = {"x"};
  for (const auto& [key, tensor] : slots) keys.push_back(key);
  expect_parity("block", keys, [&](const std::vector<Tensor>& in) {
    for (size_t i = 0; i < slots.size(); ++i) *slots[i].second = in[1 + i];
    return block.forward(in[0]);
  });
}

INSTANTIATE_TEST_SUITE_P(Paths, ParityTest,
                         testing::Values(ParityCase{false, DType::f32},
                                         ParityCase{false, DType::f64},
                                         ParityCase{true, DType::f32},
                                         ParityCase{true, DType::f64}),
                         layer_name<ParityCase>);

}  // namespace
}  // namespace lookback::test
