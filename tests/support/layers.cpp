#include "tests/support/layers.h"

#include "engine/kernels/threads.h"

namespace lookback::test {
namespace {

using attention::MultiHeadAttentionOptions;

constexpr DType kDTypes[] = {DType::f32, DType::f64};

// Stands for half as many kv heads as heads; with_size() knows how many that is.
constexpr int64_t kGrouped = -2;

LayerCase head_case(bool fused, int64_t window, DType dtype) {
  const auto make = [=](const LayerSize& size) {
    Generator generator(size.seed);
    auto head = std::make_shared<attention::Head>(
        size.d_model(), size.d_head, size.T_max, generator,
        attention::HeadOptions{.window = window, .fused = fused, .dtype = dtype});
    return CausalLayer{head, [head](const Tensor& x) { return head->forward(x); }};
  };
  const std::string name = std::string(fused ? "Fused" : "") + (window > 0 ? "Window" : "");
  return {name + "Head", dtype, fused, window, make};
}

template <class Layer>
LayerCase layer_case(const MultiHeadCase& variant, const std::string& suffix) {
  const auto make = [variant](const LayerSize& size) {
    Generator generator(size.seed);
    auto layer = std::make_shared<Layer>(variant.with_size(size), generator);
    return CausalLayer{layer, [layer](const Tensor& x) { return layer->forward(x); }};
  };
  const MultiHeadAttentionOptions& o = variant.options;
  return {variant.name + suffix, o.dtype, o.fused, o.window, make};
}

}  // namespace

MultiHeadAttentionOptions MultiHeadCase::with_size(const LayerSize& size) const {
  MultiHeadAttentionOptions o = options;
  o.d_model = size.d_model();
  o.num_heads = size.heads;
  if (o.num_kv_heads == kGrouped) o.num_kv_heads = size.heads / 2;
  o.max_length = size.T_max;
  return o;
}

std::vector<MultiHeadCase> multi_head_cases() {
  std::vector<MultiHeadCase> cases;
  for (const DType dtype : kDTypes) {
    for (const bool fused : {false, true}) {
      const std::string prefix = fused ? "Fused" : "";
      const auto add = [&](const std::string& name, int64_t kv_heads, int64_t window) {
        cases.push_back({prefix + name,
                         {.num_kv_heads = kv_heads,
                          .window = window,
                          .bias = window == 0,
                          .fused = fused,
                          .dtype = dtype}});
      };
      add("MultiHead", 0, 0);
      add("GroupedQuery", kGrouped, 0);
      add("MultiQuery", 1, 0);
      add("GroupedWindow", kGrouped, kWindow);
    }
  }
  return cases;
}

std::vector<LayerCase> causal_layers() {
  std::vector<LayerCase> cases;
  for (const DType dtype : kDTypes) {
    for (const bool fused : {false, true}) {
      cases.push_back(head_case(fused, 0, dtype));
      cases.push_back(head_case(fused, kWindow, dtype));
    }
  }
  for (const MultiHeadCase& variant : multi_head_cases()) {
    cases.push_back(layer_case<attention::MultiHeadAttention>(variant, ""));
    const bool plain = variant.options.num_kv_heads == 0;
    if (plain) cases.push_back(layer_case<attention::ConcatHeads>(variant, "AsConcatHeads"));
    if (plain) cases.push_back(layer_case<attention::Block>(variant, "Block"));
  }
  return cases;
}

std::ostream& operator<<(std::ostream& out, const LayerCase& layer) {
  return out << layer.name << '_' << layer.dtype;
}

std::ostream& operator<<(std::ostream& out, const MultiHeadCase& layer) {
  return out << layer.name << '_' << layer.options.dtype;
}

ThreadCount::ThreadCount(int count) : previous_(num_threads()) { set_num_threads(count); }

ThreadCount::~ThreadCount() { set_num_threads(previous_); }

Tensor normal(const Shape& shape, DType dtype, uint64_t seed) {
  Generator generator(seed);
  return randn(shape, generator, dtype);
}

Tensor normal_variable(const Shape& shape, DType dtype, uint64_t seed) {
  const Tensor x = normal(shape, dtype, seed);
  x.set_requires_grad(true);
  return x;
}

}  // namespace lookback::test
