// Same bits: one row of output has the same bits whatever else is computed beside it. Every
// output element's sum runs in one order that depends on the summation index alone; hence
//
//   1. prefix   forward(x)[:, :t] equals forward(x[:, :t])
//   2. batch    row b of a batch equals that row alone
//   3. threads  any number of threads gives the same bits
//   4. cache    decoding from the cache equals the full pass: kv_cache_test.cpp
//   5. heads    MultiHeadAttention equals ConcatHeads with the same weights
//
// with == on the bits, not within a tolerance. Sizes are odd on purpose: rows that fill no
// vector, no tile and no block.
#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr int kThreadCounts[] = {2, 3, 8};

class SameBitsTest : public testing::TestWithParam<LayerCase> {
 protected:
  static void expect_prefixes(const LayerSize& size, int64_t B,
                              const std::vector<int64_t>& lengths) {
    const CausalLayer layer = GetParam().make(size);
    const Tensor x = normal({B, size.T_max, size.d_model()}, GetParam().dtype);
    const NoGradGuard no_grad;
    const Tensor whole = layer.forward(x);
    for (const int64_t t : lengths) {
      EXPECT_TRUE(same_bits(layer.forward(narrow(x, 1, 0, t)), narrow(whole, 1, 0, t)))
          << "first " << t << " of " << size.T_max << " tokens, d_head " << size.d_head;
    }
  }
};

TEST_P(SameBitsTest, PrefixEveryLength) {
  expect_prefixes({.T_max = 17}, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}

TEST_P(SameBitsTest, PrefixOfOddSizes) {
  expect_prefixes({.d_head = 1, .heads = 2, .T_max = 1}, 1, {1});
  expect_prefixes({.d_head = 3, .heads = 2, .T_max = 7}, 3, {1, 6});
  expect_prefixes({.d_head = 16, .heads = 2, .T_max = 65}, 2, {1, 17, 33, 63, 64});
  expect_prefixes({.d_head = 65, .heads = 2, .T_max = 17}, 1, {1, 16});
}

TEST_P(SameBitsTest, PrefixOfALongSequence) {
  expect_prefixes({.d_head = 3, .heads = 2, .T_max = 257}, 1, {1, 65, 127, 129, 256});
  expect_prefixes({.d_head = 3, .heads = 2, .T_max = 1000}, 1, {999});
}

TEST_P(SameBitsTest, BatchEveryRowEqualsThatRowAlone) {
  for (const LayerSize& size :
       {LayerSize{.T_max = 8}, LayerSize{.d_head = 3, .heads = 2, .T_max = 17},
        LayerSize{.d_head = 1, .heads = 2, .T_max = 1}}) {
    const CausalLayer layer = GetParam().make(size);
    const Tensor x = normal({5, size.T_max, size.d_model()}, GetParam().dtype);
    for (int64_t B = 1; B <= 5; ++B) {
      const Tensor together = layer.forward(narrow(x, 0, 0, B));
      for (int64_t b = 0; b < B; ++b) {
        EXPECT_TRUE(same_bits(layer.forward(narrow(x, 0, b, 1)), narrow(together, 0, b, 1)))
            << "row " << b << " of " << B;
      }
    }
  }
}

// Of one input, the gradient with respect to x too: a row's is its own.
TEST_P(SameBitsTest, BatchEveryRowsGradientEqualsThatOfTheRowAlone) {
  const CausalLayer layer = GetParam().make({.T_max = 8});
  const auto gradient = [&](const Tensor& x) {
    const Tensor variable = x.clone().set_requires_grad(true);
    const Tensor y = layer.forward(variable);
    const Tensor seed = expand(normal({1, 8, y.size(-1)}, GetParam().dtype, 5), y.shape());
    return grad(y, {variable}, seed.contiguous())[0];
  };
  const Tensor x = normal({3, 8, 32}, GetParam().dtype);
  const Tensor together = gradient(x);
  for (int64_t b = 0; b < 3; ++b) {
    EXPECT_TRUE(same_bits(gradient(narrow(x, 0, b, 1)), narrow(together, 0, b, 1))) << b;
  }
}

TEST_P(SameBitsTest, ThreadsChangeNoBitOfOutputsAndGradients) {
  const CausalLayer layer = GetParam().make({.d_head = 24, .T_max = 65});
  const Tensor x = normal_variable({3, 65, 96}, GetParam().dtype);
  const Tensor seed = normal(layer.forward(x).shape(), GetParam().dtype, 5);
  std::vector<Tensor> wanted = layer.module->parameters();
  wanted.push_back(x);
  const auto run = [&](int threads) {
    const ThreadCount count(threads);
    const Tensor y = layer.forward(x);
    std::vector<Tensor> results = grad(y, wanted, seed);
    results.push_back(y);
    return results;
  };
  const std::vector<Tensor> expected = run(1);
  for (const int threads : kThreadCounts) {
    const std::vector<Tensor> results = run(threads);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(same_bits(results[i], expected[i])) << threads << " threads, result " << i;
    }
  }
}

TEST_P(SameBitsTest, TheLayoutOfTheInputChangesNoBit) {
  const CausalLayer layer = GetParam().make({.T_max = 7});
  const Tensor x = normal({3, 7, 32}, GetParam().dtype);
  const Tensor strided = transpose(transpose(x, 0, 1).contiguous(), 0, 1);
  const Tensor expanded = expand(narrow(x, 0, 0, 1), {3, 7, 32});
  ASSERT_FALSE(strided.is_contiguous());
  EXPECT_TRUE(same_bits(layer.forward(strided), layer.forward(x)));
  EXPECT_TRUE(same_bits(layer.forward(expanded), layer.forward(expanded.contiguous())));
}

TEST_P(SameBitsTest, ASecondForwardHasTheBitsOfTheFirst) {
  const CausalLayer layer = GetParam().make({.T_max = 8});
  const Tensor x = normal({2, 8, 32}, GetParam().dtype);
  const Tensor first = layer.forward(x);
  EXPECT_TRUE(same_bits(layer.forward(x), first));
  EXPECT_TRUE(same_bits(GetParam().make({.T_max = 8}).forward(x), first));  // and the same seed
}

INSTANTIATE_TEST_SUITE_P(AllLayers, SameBitsTest, testing::ValuesIn(causal_layers()),
                         layer_name<LayerCase>);

class ConcatHeadsTest : public testing::TestWithParam<MultiHeadCase> {
 protected:
  void expect_equal(const LayerSize& size, int64_t B, int64_t T) {
    const auto options = GetParam().with_size(size);
    Generator generator(size.seed);
    const attention::MultiHeadAttention together(options, generator);
    attention::ConcatHeads one_by_one(options, generator);
    one_by_one.copy_weights_from(together);
    const Tensor x = normal({B, T, size.d_model()}, options.dtype);
    EXPECT_TRUE(same_bits(together.forward(x), one_by_one.forward(x)))
        << "d_head " << size.d_head << ", " << size.heads << " heads, " << x.shape();
    const Tensor weights = together.forward_with_weights(x).weights;
    for (int64_t h = 0; h < size.heads; ++h) {
      EXPECT_TRUE(same_bits(select(weights, 1, h), one_by_one.head(h).weights())) << "head " << h;
    }
  }
};

TEST_P(ConcatHeadsTest, HeadsTogetherEqualHeadsOneByOne) {
  expect_equal({.T_max = 8}, 4, 8);
  expect_equal({.d_head = 1, .heads = 2, .T_max = 1}, 1, 1);
  expect_equal({.d_head = 3, .heads = 6, .T_max = 17}, 2, 17);
  expect_equal({.d_head = 16, .heads = 2, .T_max = 70}, 1, 65);
  expect_equal({.d_head = 65, .heads = 2, .T_max = 7}, 5, 7);
}

INSTANTIATE_TEST_SUITE_P(Variants, ConcatHeadsTest, testing::ValuesIn(multi_head_cases()),
                         layer_name<MultiHeadCase>);

}  // namespace
}  // namespace lookback::test
