// Module: the named tree. Names and order are those of registration; what is registered wrongly is
// refused and leaves no trace.
#include "nn/module.h"

#include "engine/ops.h"
#include "nn/nn.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using Names = std::vector<std::string>;

Names names(const nn::NamedTensors& tensors) {
  Names result;
  for (const auto& [name, tensor] : tensors) result.push_back(name);
  return result;
}

// A module that lets a test register whatever it likes.
struct Open : nn::Module {
  using nn::Module::register_buffer;
  using nn::Module::register_module;
  using nn::Module::register_parameter;
};

struct Leaf : Open {
  Leaf() {
    weight = register_parameter("weight", ones({2, 3}));
    table = register_buffer("table", arange(4));
  }
  Tensor weight;
  Tensor table;
};

struct Tree : Open {
  Tree() {
    scale = register_parameter("scale", ones({1}));
    register_module("left", left);
    register_module("right", right);
  }
  Tensor scale;
  Leaf left;
  Leaf right;
};

void expect_refusal(const std::function<void()>& call, const std::vector<std::string>& parts) {
  EXPECT_TRUE(throws<std::invalid_argument>(call, parts));
}

TEST(Module, NamesAreDottedPathsInTheOrderOfRegistration) {
  const Tree tree;
  EXPECT_EQ(names(tree.named_parameters()), (Names{"scale", "left.weight", "right.weight"}));
  EXPECT_EQ(names(tree.named_buffers()), (Names{"left.table", "right.table"}));
}

TEST(Module, ParametersAreTheTensorsThemselves) {
  const Tree tree;
  const std::vector<Tensor> parameters = tree.parameters();
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_TRUE(parameters[1].is_same(tree.left.weight));
  EXPECT_EQ(tree.num_parameters(), 1 + 6 + 6);
}

TEST(Module, ParametersAreVariablesAndBuffersAreNot) {
  const Tree tree;
  for (const Tensor& p : tree.parameters()) EXPECT_TRUE(p.requires_grad());
  for (const auto& [name, buffer] : tree.named_buffers()) EXPECT_FALSE(buffer.requires_grad());
}

TEST(Module, ATensorSharedByTwoModulesIsListedOnce) {
  Open tied;
  Leaf first;
  Open second;
  second.register_parameter("tied_weight", first.weight);
  tied.register_module("first", first);
  tied.register_module("second", second);
  EXPECT_EQ(names(tied.named_parameters()), (Names{"first.weight"}));
  EXPECT_EQ(tied.num_parameters(), 6);
}

TEST(Module, ZeroGradForgetsAllGradients) {
  const Tree tree;
  (sum(tree.scale) + sum(tree.left.weight) * 2.0).backward();
  EXPECT_TRUE(has_values(tree.scale.grad(), {1}, {1}));
  EXPECT_FALSE(tree.right.weight.grad().defined());
  tree.zero_grad();
  for (const Tensor& p : tree.parameters()) EXPECT_FALSE(p.grad().defined());
}

TEST(Module, TrainAndEvalReachTheWholeTree) {
  Tree tree;
  EXPECT_TRUE(tree.is_training());
  tree.eval();
  EXPECT_FALSE(tree.is_training());
  EXPECT_FALSE(tree.right.is_training());
  tree.train();
  EXPECT_TRUE(tree.left.is_training());
}

TEST(Module, ANameIsTakenOnceByWhateverKind) {
  Tree tree;
  Leaf leaf;
  for (const char* taken : {"scale", "left"}) {
    const std::string text = std::string("'") + taken + "' is registered already";
    expect_refusal([&] { tree.register_parameter(taken, ones({1})); }, {"[module]", text});
    expect_refusal([&] { tree.register_buffer(taken, ones({1})); }, {"[module]", text});
    expect_refusal([&] { tree.register_module(taken, leaf); }, {"[module]", text});
  }
  EXPECT_EQ(tree.parameters().size(), 3u);
}

TEST(Module, ANameIsNeitherEmptyNorDotted) {
  Open module;
  expect_refusal([&] { module.register_parameter("", ones({1})); }, {"must not be empty"});
  expect_refusal([&] { module.register_buffer("a.b", ones({1})); }, {"a dot", "'a.b'"});
}

TEST(Module, AParameterMustBeAFloatingLeaf) {
  Open module;
  const Tensor variable = ones({2}).set_requires_grad(true);
  expect_refusal([&] { module.register_parameter("index", arange(3)); }, {});
  expect_refusal([&] { module.register_parameter("result", variable * 2.0); }, {});
  EXPECT_TRUE(module.parameters().empty());
}

TEST(Module, AModuleCannotContainItself) {
  Open module;
  expect_refusal([&] { module.register_module("self", module); }, {"contain itself", "'self'"});
}

TEST(Module, TheLayersNameTheirParametersAsTheLiteratureDoes) {
  Generator generator(1);
  EXPECT_EQ(names(nn::Linear(2, 3, generator).named_parameters()), (Names{"weight", "bias"}));
  EXPECT_EQ(names(nn::LayerNorm(2).named_parameters()), (Names{"weight", "bias"}));
  EXPECT_EQ(names(nn::Embedding(2, 3, generator).named_parameters()), (Names{"weight"}));
  EXPECT_EQ(names(nn::MLP(2, 8, generator).named_parameters()),
            (Names{"up.weight", "up.bias", "down.weight", "down.bias"}));
  const attention::Block block({.d_model = 4, .bias = false}, generator);
  EXPECT_EQ(names(block.named_parameters()),
            (Names{"attention_norm.weight", "attention_norm.bias", "attention.query.weight",
                   "attention.key.weight", "attention.value.weight", "attention.output.weight",
                   "mlp_norm.weight", "mlp_norm.bias", "mlp.up.weight", "mlp.down.weight"}));
  // 12 d^2 of matrices and 4 d of norms
  EXPECT_EQ(block.num_parameters(), 12 * 16 + 4 * 4);
}

}  // namespace
}  // namespace lookback::test
