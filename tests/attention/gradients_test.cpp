// Derivatives of whole layers against finite differences, first and second order, with respect to
// the input and to every element of every parameter. The layers have no backward code: what is
// checked is that the derivatives of their ops meet correctly.
#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::MultiHeadAttention;
using attention::MultiHeadAttentionOptions;
using attention::scaled_dot_product_attention;

// The parameters of a layer, as places that a function's arguments can be put into.
using Slots = std::vector<Tensor*>;

void add(Slots& slots, nn::Linear& linear) {
  slots.push_back(&linear.weight);
  if (linear.bias.defined()) slots.push_back(&linear.bias);
}

void add(Slots& slots, nn::LayerNorm& norm) {
  slots.push_back(&norm.weight);
  slots.push_back(&norm.bias);
}

void add(Slots& slots, MultiHeadAttention& layer) {
  for (nn::Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output}) {
    add(slots, *linear);
  }
}

// Checks forward as a function of x and of all parameters, to first and to second order.
void expect_derivatives(const TensorFunction& forward, const std::vector<Tensor>& x,
                        const Slots& slots) {
  std::vector<Tensor> inputs = x;
  for (const Tensor* slot : slots) inputs.push_back(slot->detach());
  const TensorFunction fn = [&](const std::vector<Tensor>& in) {
    for (size_t i = 0; i < slots.size(); ++i) *slots[i] = in[x.size() + i];
    return forward(in);
  };
  const GradCheckResult first = grad_check(fn, inputs);
  EXPECT_TRUE(first) << first.message;
  const GradCheckResult second = grad_grad_check(fn, inputs);
  EXPECT_TRUE(second) << second.message;
}

std::string path_name(const testing::TestParamInfo<bool>& fused) {
  return fused.param ? "Fused" : "Composed";
}

class PathTest : public testing::TestWithParam<bool> {  // fused?
 protected:
  MultiHeadAttentionOptions options() const {
    return {.d_model = 4, .num_heads = 2, .fused = GetParam(), .dtype = DType::f64};
  }
  void expect_derivatives_of(const MultiHeadAttentionOptions& o) const {
    Generator generator(11);
    MultiHeadAttention layer(o, generator);
    Slots slots;
    add(slots, layer);
    expect_derivatives([&](const auto& in) { return layer.forward(in[0]); },
                       {normal({2, 3, o.d_model})}, slots);
  }
};

TEST_P(PathTest, Head) {
  Generator generator(11);
  attention::Head head(3, 2, 4, generator,
                       {.bias = true, .fused = GetParam(), .dtype = DType::f64});
  Slots slots;
  for (nn::Linear* linear : {&head.query, &head.key, &head.value}) add(slots, *linear);
  expect_derivatives([&](const auto& in) { return head.forward(in[0]); }, {normal({2, 4, 3})},
                     slots);
}

TEST_P(PathTest, MultiHeadAttention) { expect_derivatives_of(options()); }

TEST_P(PathTest, WithoutBias) {
  MultiHeadAttentionOptions o = options();
  o.bias = false;
  expect_derivatives_of(o);
}

TEST_P(PathTest, GroupedQueries) {
  MultiHeadAttentionOptions o = options();
  o.num_heads = 4;
  o.num_kv_heads = 2;
  expect_derivatives_of(o);
}

TEST_P(PathTest, Window) {
  MultiHeadAttentionOptions o = options();
  o.window = 2;
  expect_derivatives_of(o);
}

TEST_P(PathTest, CrossAttention) {
  MultiHeadAttentionOptions o = options();
  o.causal = false;
  Generator generator(11);
  attention::MultiHeadAttention layer(o, generator);
  Slots slots;
  add(slots, layer);
  expect_derivatives([&](const auto& in) { return layer.forward(in[0], in[1]); },
                     {normal({2, 2, 4}), normal({2, 3, 4}, DType::f64, 2)}, slots);
}

TEST_P(PathTest, Block) {
  Generator generator(11);
  attention::Block block(options(), generator);
  Slots slots;
  add(slots, block.attention_norm);
  add(slots, block.attention);
  add(slots, block.mlp_norm);
  add(slots, block.mlp.up);
  slots.push_back(&block.mlp.down.bias);
  expect_derivatives([&](const auto& in) { return block.forward(in[0]); }, {normal({1, 3, 4})},
                     slots);
}

INSTANTIATE_TEST_SUITE_P(Derivatives, PathTest, testing::Bool(), path_name);

class FormulaTest : public testing::Test {
 protected:
  const std::vector<Tensor> qkv_ = {normal({2, 3, 4}, DType::f64, 1),
                                    normal({2, 5, 4}, DType::f64, 2),
                                    normal({2, 5, 3}, DType::f64, 3)};
  // Query 0 sees no key, query 1 two, query 2 all.
  const Tensor mask_ = from_vector<bool>({false, false, false, false, false,  //
                                          true, false, false, true, false,    //
                                          true, true, true, true, true},
                                         {3, 5});
};

TEST_F(FormulaTest, ScaledDotProductAttention) {
  expect_derivatives(
      [](const auto& in) { return scaled_dot_product_attention(in[0], in[1], in[2]).output; }, qkv_,
      {});
}

TEST_F(FormulaTest, ScaledDotProductAttentionWithAnEmptyRow) {
  expect_derivatives(
      [&](const auto& in) {
        return scaled_dot_product_attention(in[0], in[1], in[2], mask_).output;
      },
      qkv_, {});
}

TEST_F(FormulaTest, ItsWeights) {
  expect_derivatives(
      [&](const auto& in) {
        return scaled_dot_product_attention(in[0], in[1], in[1], mask_).weights;
      },
      {qkv_[0], qkv_[1]}, {});
}

TEST_F(FormulaTest, FusedAttentionWithAnEmptyRow) {
  expect_derivatives(
      [&](const auto& in) { return attention::fused_attention(in[0], in[1], in[2], mask_); }, qkv_,
      {});
}

TEST_F(FormulaTest, FusedAttentionUnderAWindow) {
  const std::vector<Tensor> qkv = {normal({2, 6, 3}, DType::f64, 1),
                                   normal({2, 6, 3}, DType::f64, 2),
                                   normal({2, 6, 2}, DType::f64, 3)};
  for (const int64_t W : {1, 2, 3, 5}) {
    SCOPED_TRACE("window " + std::to_string(W));
    expect_derivatives(
        [&](const auto& in) {
          return attention::fused_attention(in[0], in[1], in[2], {}, {.causal = true, .window = W});
        },
        qkv, {});
  }
}

// Under create_graph the gradient comes from ops that can be differentiated, with a mask of their
// own. grad_grad_check compares that gradient with its own differences: one that is the gradient
// of another window would pass.
TEST_F(FormulaTest, TheFusedGradientIsTheSameWhenAGraphIsMadeOfIt) {
  const std::vector<Tensor> qkv = {normal_variable({2, 70, 3}, DType::f64, 1),
                                   normal_variable({2, 70, 3}, DType::f64, 2),
                                   normal_variable({2, 70, 2}, DType::f64, 3)};
  for (const int64_t W : {0, 1, 2, 3, 5, 65}) {
    const auto gradients = [&](bool create_graph) {
      const Tensor y =
          attention::fused_attention(qkv[0], qkv[1], qkv[2], {}, {.causal = true, .window = W});
      return grad(y, qkv, normal(y.shape(), DType::f64, 4), {.create_graph = create_graph});
    };
    const std::vector<Tensor> plain = gradients(false);
    const std::vector<Tensor> recorded = gradients(true);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(all_close(recorded[i].detach(), plain[i], 1e-13)) << "window " << W << ", " << i;
    }
  }
}

TEST_F(FormulaTest, StreamingAttention) {
  expect_derivatives(
      [&](const auto& in) {
        return attention::streaming_attention(in[0], in[1], in[2], mask_, {.blocks = {2, 1, 2}});
      },
      qkv_, {});
}

// softmax: J = diag(p) - p p^T, found by our backward pass one row at a time.
TEST_F(FormulaTest, TheJacobianOfSoftmaxIsDiagPMinusPPTransposed) {
  const Tensor x = normal_variable({6});
  const Tensor p = softmax(x, 0);
  const Tensor column = unsqueeze(p.detach(), 1);
  const Tensor expected = eye(6, DType::f64) * column - matmul(column, transpose(column, 0, 1));
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 6; ++i) {
    rows.push_back(grad(select(p, 0, i), {x}, {}, {.retain_graph = true})[0]);
  }
  EXPECT_TRUE(all_close(stack(rows), expected, 1e-15));
}

}  // namespace
}  // namespace lookback::test
