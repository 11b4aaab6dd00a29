// Geometry and symmetry of attention.
//
//   hull          each output is a weighted mean of the values that it sees: it lies in their
//                 convex hull. Proved by support functions: in every direction u, out.u is
//                 between the smallest and the largest v.u.
//   permutation   attention without a mask knows no order: f(P x) = P f(x) for a permutation P of
//                 the tokens. Positions, added to x, do not change that (f is the same map);
//                 permuting the tokens *before* positions are added does, and so does a mask.
#include <limits>

#include "attention/attention.h"
#include "engine/ops.h"
#include "nn/embedding.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr int64_t T = 8;
constexpr int64_t D = 32;

class HullTest : public testing::TestWithParam<DType> {
 protected:
  // out (T, d), v (T, d): row i within the hull of the rows j of v that `sees` allows.
  void expect_in_hull(const Tensor& out, const Tensor& v, const Tensor& may_attend) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor u = normal({v.size(-1), 200}, GetParam(), 9);  // 200 directions
    const Tensor along = unsqueeze(matmul(v, u), 0);            // (1, Tk, 200): v_j . u
    const Tensor hidden = unsqueeze(!may_attend, -1);           // (Tq, Tk, 1)
    const Shape all = {out.size(0), v.size(0), 200};
    const Tensor highest = max(masked_fill(expand(along, all), hidden, -infinity), 1);  // (Tq, 200)
    const Tensor lowest = min(masked_fill(expand(along, all), hidden, infinity), 1);
    const Tensor got = matmul(out, u);
    const double rounding = GetParam() == DType::f32 ? 1e-5 : 1e-13;
    EXPECT_LE(max(got - highest).item<double>(), rounding);
    EXPECT_LE(max(lowest - got).item<double>(), rounding);
  }
};

TEST_P(HullTest, OutputsOfACausalHeadStayInTheHullOfThePastValues) {
  Generator generator(1);
  attention::Head head(D, 16, T, generator, {.dtype = GetParam()});
  const Tensor x = normal({T, D}, GetParam());
  expect_in_hull(head.forward(x), head.value.forward(x), attention::causal_mask(T, T));
}

TEST_P(HullTest, OutputsOfAFusedWindowStayInTheHullOfTheWindow) {
  const Tensor q = normal({T, 5}, GetParam(), 1);
  const Tensor k = normal({T, 5}, GetParam(), 2);
  const Tensor v = normal({T, 3}, GetParam(), 3);
  expect_in_hull(attention::fused_attention(q, k, v, {}, {.causal = true, .window = 3}), v,
                 attention::sliding_window_mask(T, T, 3));
}

TEST_P(HullTest, EqualValuesAreReturnedWhateverTheWeights) {
  const Tensor v = expand(normal({1, 3}, GetParam(), 3), {T, 3}).contiguous();
  const Tensor q = normal({T, 5}, GetParam(), 1);
  const double rounding = GetParam() == DType::f32 ? 1e-6 : 1e-15;
  EXPECT_TRUE(all_close(attention::scaled_dot_product_attention(q, q, v).output, v, rounding));
  EXPECT_TRUE(all_close(attention::fused_attention(q, q, v), v, rounding));
}

INSTANTIATE_TEST_SUITE_P(Precisions, HullTest, testing::Values(DType::f32, DType::f64), dtype_name);

struct PermutationCase {
  bool fused;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const PermutationCase& c) {
  return out << (c.fused ? "Fused_" : "Composed_") << c.dtype;
}

class PermutationTest : public testing::TestWithParam<PermutationCase> {
 protected:
  PermutationTest()
      : generator_(3),
        head_(make_head(false)),
        causal_head_(make_head(true)),
        tokens_(10, D, generator_, GetParam().dtype),
        positions_(T, D, generator_, GetParam().dtype) {}

  std::unique_ptr<attention::Head> make_head(bool causal) {
    return std::make_unique<attention::Head>(
        D, 16, T, generator_,
        attention::HeadOptions{
            .causal = causal, .fused = GetParam().fused, .dtype = GetParam().dtype});
  }

  // Row i of the result is row P[i] of x.
  Tensor permuted(const Tensor& x) const { return index_select(x, 0, permutation_); }
  static double distance(const Tensor& a, const Tensor& b) {
    return max(abs(a - b)).item<double>();
  }

  Generator generator_;
  std::unique_ptr<attention::Head> head_;  // without a mask
  std::unique_ptr<attention::Head> causal_head_;
  nn::Embedding tokens_;
  nn::Embedding positions_;
  const Tensor text_ = from_vector<int64_t>({3, 1, 4, 1, 5, 9, 2, 6}, {T});
  const Tensor permutation_ = from_vector<int64_t>({5, 0, 7, 2, 1, 6, 3, 4}, {T});
};

TEST_P(PermutationTest, WithoutAMaskPermutedTokensGivePermutedOutputs) {
  const Tensor x = tokens_.forward(text_);
  EXPECT_TRUE(all_close(head_->forward(permuted(x)), permuted(head_->forward(x)), 1e-6));
}

TEST_P(PermutationTest, StillSoWhenTokensArePermutedTogetherWithTheirPositions) {
  const Tensor x = tokens_.forward(text_) + positions_.forward(arange(T));
  EXPECT_TRUE(all_close(head_->forward(permuted(x)), permuted(head_->forward(x)), 1e-6));
}

TEST_P(PermutationTest, BrokenWhenTokensArePermutedBeforePositionsAreAdded) {
  const Tensor p = positions_.forward(arange(T));
  const Tensor of_permuted_text = head_->forward(tokens_.forward(permuted(text_)) + p);
  const Tensor permuted_output = permuted(head_->forward(tokens_.forward(text_) + p));
  EXPECT_GT(distance(of_permuted_text, permuted_output), 0.1);
}

TEST_P(PermutationTest, BrokenByACausalMask) {
  const Tensor x = tokens_.forward(text_);
  EXPECT_GT(distance(causal_head_->forward(permuted(x)), permuted(causal_head_->forward(x))), 0.1);
}

TEST_P(PermutationTest, WithoutPositionsEqualTokensHaveEqualOutputs) {
  const Tensor out = head_->forward(tokens_.forward(text_));  // token 1 stands at 1 and at 3
  EXPECT_TRUE(same_bits(select(out, 0, 1), select(out, 0, 3)));
}

TEST_P(PermutationTest, AQueryDoesNotCareInWhichOrderItsKeysCome) {
  const DType dtype = GetParam().dtype;
  const Tensor q = normal({1, 16}, dtype, 1);
  const Tensor k = normal({T, 16}, dtype, 2);
  const Tensor v = normal({T, 4}, dtype, 3);
  const auto attend = [&](const Tensor& keys, const Tensor& values) {
    return GetParam().fused ? attention::fused_attention(q, keys, values)
                            : attention::scaled_dot_product_attention(q, keys, values).output;
  };
  EXPECT_TRUE(all_close(attend(permuted(k), permuted(v)), attend(k, v), 1e-6));
  EXPECT_GT(distance(attend(permuted(k), v), attend(k, v)),
            0.1);  // keys and values belong together
}

INSTANTIATE_TEST_SUITE_P(Paths, PermutationTest,
                         testing::Values(PermutationCase{false, DType::f32},
                                         PermutationCase{false, DType::f64},
                                         PermutationCase{true, DType::f32},
                                         PermutationCase{true, DType::f64}),
                         layer_name<PermutationCase>);

}  // namespace
}  // namespace lookback::test
