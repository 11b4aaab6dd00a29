// Streaming: softmax over keys that arrive block by block equals softmax over all of them, in any
// order of block sizes. The invariant behind it: after some keys, the state is exactly what dense
// attention over these keys alone would need (their maximum, the sum of exp(score - maximum), the
// weighted sum of values), and a step keeps it so by rescaling with exp(old max - new max).
#include <algorithm>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::scaled_dot_product_attention;
using attention::streaming_attention;
using attention::StreamingSoftmax;
using Blocks = std::vector<int64_t>;

// Every way to write n as an ordered sum of positive numbers: 2^(n-1) of them.
std::vector<Blocks> compositions(int64_t n) {
  if (n == 0) return {{}};
  std::vector<Blocks> all;
  for (int64_t first = 1; first <= n; ++first) {
    for (Blocks rest : compositions(n - first)) {
      rest.insert(rest.begin(), first);
      all.push_back(rest);
    }
  }
  return all;
}

class StreamingTest : public testing::TestWithParam<DType> {
 protected:
  static constexpr int64_t Tq = 5;
  static constexpr int64_t Tk = 7;
  const double tolerance_ = GetParam() == DType::f32 ? 1e-6 : 1e-14;
  const Tensor q_ = normal({2, Tq, 4}, GetParam(), 1);
  const Tensor k_ = normal({2, Tk, 4}, GetParam(), 2);
  const Tensor v_ = normal({2, Tk, 3}, GetParam(), 3);

  void expect_equal_for_all_blocks(const Tensor& mask) const {
    const Tensor dense = scaled_dot_product_attention(q_, k_, v_, mask).output;
    for (const Blocks& blocks : compositions(Tk)) {
      EXPECT_TRUE(
          all_close(streaming_attention(q_, k_, v_, mask, {.blocks = blocks}), dense, tolerance_))
          << testing::PrintToString(blocks);
    }
  }
};

TEST_P(StreamingTest, EqualsDenseForEveryOrderOfBlockSizes) { expect_equal_for_all_blocks({}); }

TEST_P(StreamingTest, EqualsDenseUnderACausalMask) {
  expect_equal_for_all_blocks(attention::causal_mask(Tq, Tk));
}

TEST_P(StreamingTest, EqualsDenseWhenTheFirstBlocksAreMaskedEntirely) {
  const Tensor late = unsqueeze(arange(Tk), 0) >= 4.0;  // keys 0-3 hidden from every query
  expect_equal_for_all_blocks(late);
  expect_equal_for_all_blocks(logical_and(late, attention::sliding_window_mask(Tq, Tk, 3)));
}

TEST_P(StreamingTest, EqualsDenseWhenAQueryMayAttendToNothing) {
  const Tensor some = attention::causal_mask(Tk, Tq);  // (7, 5): queries 0 and 1 see no key
  const Tensor out = streaming_attention(k_, q_, q_, some);
  EXPECT_TRUE(all_close(out, scaled_dot_product_attention(k_, q_, q_, some).output, tolerance_));
  EXPECT_TRUE(all_zero(narrow(out, 1, 0, 2)));
}

TEST_P(StreamingTest, OneKeyAtATimeIsTheDefault) {
  const Tensor singles = streaming_attention(q_, k_, v_, {}, {.blocks = Blocks(Tk, 1)});
  EXPECT_TRUE(same_bits(streaming_attention(q_, k_, v_), singles));
}

TEST_P(StreamingTest, EmptyBlocksChangeNoBit) {
  EXPECT_TRUE(same_bits(streaming_attention(q_, k_, v_, {}, {.blocks = {0, 3, 0, 4, 0}}),
                        streaming_attention(q_, k_, v_, {}, {.blocks = {3, 4}})));
}

TEST_P(StreamingTest, AStepRescalesWhatItHasByTheRiseOfTheMaximum) {
  StreamingSoftmax state({1}, 1, GetParam());
  const auto number = [](double x) { return full({1, 1}, x, GetParam()); };

  state.step(number(2), number(10));  // the first score is the maximum: weight exp(0)
  EXPECT_TRUE(has_values(state.running_max(), {1, 1}, {2}));
  EXPECT_TRUE(has_values(state.running_sum(), {1, 1}, {1}));
  EXPECT_TRUE(has_values(state.rescale(), {1, 1}, {0}));  // there was nothing to keep

  state.step(number(1), number(20));  // a lower score: the maximum stays
  EXPECT_TRUE(has_values(state.rescale(), {1, 1}, {1}));
  EXPECT_TRUE(has_values(state.running_sum(), {1, 1}, {1 + std::exp(-1.0)}, 1e-6));

  state.step(number(4), number(30));  // a higher one: what there was shrinks by exp(2 - 4)
  EXPECT_TRUE(has_values(state.rescale(), {1, 1}, {std::exp(-2.0)}, 1e-6));
  EXPECT_TRUE(has_values(state.running_max(), {1, 1}, {4}));
  const double sum = std::exp(-2.0) + std::exp(-3.0) + 1;
  EXPECT_TRUE(has_values(state.running_sum(), {1, 1}, {sum}, 1e-6));
  const double weighted = 10 * std::exp(-2.0) + 20 * std::exp(-3.0) + 30;
  EXPECT_TRUE(has_values(state.output(), {1, 1}, {weighted / sum}, 1e-6));
}

TEST_P(StreamingTest, TheStateAfterSomeKeysIsTheAnswerForThoseKeys) {
  const Tensor scores = matmul(q_, transpose(k_, -2, -1)) / 2.0;  // (2, Tq, Tk)
  StreamingSoftmax state({2, Tq}, 3, GetParam());
  EXPECT_TRUE(all_zero(state.output()));
  for (int64_t n = 1; n <= Tk; ++n) {
    state.step(narrow(scores, 2, n - 1, 1), narrow(v_, 1, n - 1, 1));
    const Tensor seen = narrow(scores, 2, 0, n);
    EXPECT_TRUE(all_close(state.running_max(), max(seen, -1, true), 0));
    EXPECT_TRUE(all_close(log(state.running_sum()) + state.running_max(), logsumexp(seen, -1, true),
                          tolerance_));
    EXPECT_TRUE(
        all_close(state.output(), matmul(softmax(seen, -1), narrow(v_, 1, 0, n)), tolerance_));
  }
}

TEST_P(StreamingTest, ScoresThatWouldOverflowExpDoNot) {
  const Tensor huge = q_ * 1e5;
  EXPECT_TRUE(all_close(streaming_attention(huge, k_, v_),
                        scaled_dot_product_attention(huge, k_, v_).output, tolerance_));
}

TEST_P(StreamingTest, ItsGradientIsThatOfDenseAttention) {
  const Tensor mask = logical_and(unsqueeze(arange(Tk), 0) >= 2.0,
                                  attention::causal_mask(Tq, Tk));  // query 0 sees key 2 alone
  const std::vector<Tensor> inputs = {normal_variable({2, Tq, 4}, GetParam(), 1),
                                      normal_variable({2, Tk, 4}, GetParam(), 2),
                                      normal_variable({2, Tk, 3}, GetParam(), 3)};
  const Tensor seed = normal({2, Tq, 3}, GetParam(), 4);
  const auto dense = grad(
      scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], mask).output, inputs, seed);
  const auto streamed =
      grad(streaming_attention(inputs[0], inputs[1], inputs[2], mask, {.blocks = {2, 1, 4}}),
           inputs, seed);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(all_close(streamed[i], dense[i], 10 * tolerance_));
}

TEST_P(StreamingTest, ExtraDimensionsAndAMaskPerKeyBroadcast) {
  const Tensor q = normal({2, 3, Tq, 4}, GetParam(), 5);
  const Tensor k = unsqueeze(k_, 1);  // one for the three heads
  const Tensor v = unsqueeze(v_, 1);
  const Tensor mask = unsqueeze(attention::causal_mask(Tq, Tk), 0);
  EXPECT_TRUE(all_close(streaming_attention(q, k, v, mask, {.blocks = {4, 3}}),
                        scaled_dot_product_attention(q, k, v, mask).output, tolerance_));
}

TEST_P(StreamingTest, BlocksThatDoNotAddUpAreRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        streaming_attention(q_, k_, v_, {}, {.blocks = {3, 3}});
      },
      {"[streaming_attention]", "must sum to the number of keys", "got 6 and 7"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        streaming_attention(q_, k_, v_, {}, {.blocks = {8, -1}});
      },
      {"[streaming_attention]", "must not be negative", "-1"}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { streaming_attention(q_, v_, v_); },
                                            {"[streaming_attention]", "[2, 5, 4]", "[2, 7, 3]"}));
}

INSTANTIATE_TEST_SUITE_P(Precisions, StreamingTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

}  // namespace
}  // namespace lookback::test
