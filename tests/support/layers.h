// Every causal layer there is, behind one interface, so that a theorem is written once and proved
// for all of them, in float32 and float64:
//
//   TEST_P(CausalityTest, ...) { const CausalLayer layer = GetParam().make({.T_max = 8}); ... }
//   INSTANTIATE_TEST_SUITE_P(AllLayers, CausalityTest, testing::ValuesIn(causal_layers()),
//                            layer_name);
//
// No theorem belongs here.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "attention/attention.h"

namespace lookback::test {

struct LayerSize {
  int64_t d_head = 8;
  int64_t heads = 4;  // even: some layers share a kv head between two query heads
  int64_t T_max = 8;
  uint64_t seed = 7;

  int64_t d_model() const { return heads * d_head; }
};

struct CausalLayer {
  std::shared_ptr<nn::Module> module;
  std::function<Tensor(const Tensor&)> forward;  // (B, T, d_model) -> (B, T, ...)
};

struct LayerCase {
  std::string name;  // "FusedGroupedQuery"
  DType dtype;
  bool fused;
  int64_t window;  // 0: every earlier token is seen
  std::function<CausalLayer(const LayerSize&)> make;

  // True if token i may see token j.
  bool sees(int64_t i, int64_t j) const { return j <= i && (window == 0 || j > i - window); }
};

inline constexpr int64_t kWindow = 3;

// Head, MultiHeadAttention (all, grouped and one kv head; with a window), ConcatHeads and Block,
// each composed and fused, each in float32 and float64.
std::vector<LayerCase> causal_layers();

// What MultiHeadAttention makes of the same variants.
struct MultiHeadCase {
  std::string name;
  attention::MultiHeadAttentionOptions options;  // kv heads, window, fused, dtype; no sizes

  attention::MultiHeadAttentionOptions with_size(const LayerSize& size) const;
};
std::vector<MultiHeadCase> multi_head_cases();

std::ostream& operator<<(std::ostream& out, const LayerCase& layer);
std::ostream& operator<<(std::ostream& out, const MultiHeadCase& layer);

// "FusedHead_f32"
template <class Case>
std::string layer_name(const testing::TestParamInfo<Case>& info) {
  std::ostringstream text;
  text << info.param;
  return text.str();
}

inline std::string dtype_name(const testing::TestParamInfo<DType>& info) {
  return name(info.param);
}

// Sets the number of threads, and restores it.
class ThreadCount {
 public:
  explicit ThreadCount(int count);
  ~ThreadCount();
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int previous_;
};

// Normal(0, 1) numbers; another seed gives others.
Tensor normal(const Shape& shape, DType dtype = DType::f64, uint64_t seed = 1);
Tensor normal_variable(const Shape& shape, DType dtype = DType::f64, uint64_t seed = 1);

}  // namespace lookback::test
