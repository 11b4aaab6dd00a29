// The cache: what is decoded token by token has the bits of the full pass, in whatever pieces the
// tokens come; its size is the formula; an append that does not fit changes nothing.
#include <numeric>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::kv_cache_bytes;
using attention::KVCache;

using Split = std::vector<int64_t>;

// Feeds x (B, T, d_model) in pieces of these lengths, and joins what comes out.
template <class Layer>
Tensor decode(const Layer& layer, const Tensor& x, KVCache cache, const Split& split) {
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t t : split) {
    parts.push_back(layer.forward(narrow(x, 1, start, t), cache));
    start += t;
    EXPECT_EQ(cache.length(), start);
  }
  return cat(parts, 1);
}

class CachedDecodeTest : public testing::TestWithParam<MultiHeadCase> {};

TEST_P(CachedDecodeTest, EverySplitHasTheBitsOfTheFullPass) {
  Generator generator(6);
  const attention::MultiHeadAttention layer(GetParam().with_size({.T_max = 9}), generator);
  for (const Split& split : {Split{1, 1, 1, 1, 1}, Split{3, 1, 1}, Split{2, 3}, Split{5},
                             Split{4, 1}, Split{8, 1}, Split{1, 2, 3}, Split{0, 4, 0, 1}}) {
    const int64_t T = std::accumulate(split.begin(), split.end(), int64_t{0});
    const Tensor x = normal({2, T, 32}, GetParam().options.dtype);
    EXPECT_TRUE(same_bits(decode(layer, x, layer.make_cache(2), split), layer.forward(x)))
        << testing::PrintToString(split);
  }
}

// Long enough to leave every block, vector and short path behind; heads that fill vectors, which
// lone queries have a kernel for, and that do not.
TEST_P(CachedDecodeTest, AHundredTokensHaveTheBitsOfTheFullPassInWhateverPiecesTheyCome) {
  constexpr int64_t T = 131;
  for (const int64_t d_head : {3, 16}) {
    Generator generator(6);
    const attention::MultiHeadAttention layer(GetParam().with_size({.d_head = d_head, .T_max = T}),
                                              generator);
    const Tensor x = normal({2, T, 4 * d_head}, GetParam().options.dtype);
    const Tensor whole = layer.forward(x);
    for (const Split& split : {Split(T, 1), Split{7, 30, 1, 28, 1, 40, 24}, Split{64, 64, 3},
                               Split{33, 1, 1, 96}, Split{130, 1}}) {
      EXPECT_TRUE(same_bits(decode(layer, x, layer.make_cache(2), split), whole))
          << "d_head " << d_head << ", " << testing::PrintToString(split);
    }
  }
}

// Tokens taken back leave nothing behind: what is decoded next has the bits it would have had.
TEST_P(CachedDecodeTest, AfterTruncatingTheNextTokensAreAsIfTheOthersHadNeverBeen) {
  Generator generator(6);
  constexpr int64_t kKept = 35;
  const attention::MultiHeadAttention layer(
      GetParam().with_size({.d_head = 16, .T_max = kKept + 8}), generator);
  const Tensor x = normal({2, kKept + 3, 64}, GetParam().options.dtype, 1);
  const Tensor whole = layer.forward(x);
  for (const int64_t forgotten : {0, 1, 2, 3, 8}) {
    KVCache cache = layer.make_cache(2);
    const Tensor others = normal({2, forgotten, 64}, GetParam().options.dtype, 2);
    layer.forward(cat({narrow(x, 1, 0, kKept), others}, 1), cache);
    cache.truncate(kKept);
    EXPECT_EQ(cache.length(), kKept);
    for (int64_t t = kKept; t < kKept + 3; ++t) {
      EXPECT_TRUE(same_bits(layer.forward(narrow(x, 1, t, 1), cache), narrow(whole, 1, t, 1)))
          << forgotten << " forgotten, token " << t;
    }
    cache.truncate(0);
    EXPECT_EQ(cache.length(), 0);
    EXPECT_TRUE(same_bits(layer.forward(x, cache), whole)) << "after all were forgotten";
  }
}

TEST_P(CachedDecodeTest, TheRoomInTheCacheChangesNoBit) {
  Generator generator(6);
  const attention::MultiHeadAttention layer(GetParam().with_size({.T_max = 64}), generator);
  const Tensor x = normal({1, 5, 32}, GetParam().options.dtype);
  EXPECT_TRUE(same_bits(decode(layer, x, layer.make_cache(1, 5), {4, 1}),
                        decode(layer, x, layer.make_cache(1), {4, 1})));
}

TEST_P(CachedDecodeTest, ABlockDecodesTheBitsOfItsFullPass) {
  Generator generator(6);
  const attention::Block block(GetParam().with_size({.T_max = 9}), generator);
  const Tensor x = normal({3, 7, 32}, GetParam().options.dtype);
  for (const Split& split : {Split(7, 1), Split{5, 1, 1}, Split{3, 4}}) {
    const Tensor decoded = decode(block, x, block.attention.make_cache(3), split);
    EXPECT_TRUE(same_bits(decoded, block.forward(x))) << testing::PrintToString(split);
  }
}

TEST_P(CachedDecodeTest, ATokenThatDoesNotFitIsRefusedAndNothingIsWritten) {
  Generator generator(6);
  const attention::MultiHeadAttention layer(GetParam().with_size({.T_max = 9}), generator);
  const DType dtype = GetParam().options.dtype;
  KVCache cache = layer.make_cache(1, 4);
  layer.forward(normal({1, 3, 32}, dtype), cache);
  const Tensor keys = cache.keys().clone();
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        layer.forward(normal({1, 2, 32}, dtype), cache);
      },
      {"[kv_cache]", "holds 3 of 4 tokens; 2 more do not fit"}));
  EXPECT_EQ(cache.length(), 3);
  EXPECT_TRUE(same_bits(cache.keys(), keys));
  layer.forward(normal({1, 1, 32}, dtype), cache);  // one more still fits
  EXPECT_EQ(cache.length(), 4);
}

INSTANTIATE_TEST_SUITE_P(Variants, CachedDecodeTest, testing::ValuesIn(multi_head_cases()),
                         layer_name<MultiHeadCase>);

class KVCacheTest : public testing::TestWithParam<DType> {
 protected:
  KVCache cache_{2, 3, 8, 4, GetParam()};
  Tensor tokens(int64_t t, uint64_t seed) const { return normal({2, 3, t, 4}, GetParam(), seed); }
};

TEST_P(KVCacheTest, BytesAreLayersTimesHeadsTimesTokensTimesWidthTimesBytesTimesBatch) {
  const int64_t element = element_size(GetParam());
  EXPECT_EQ(kv_cache_bytes(12, 3, 5, 4, GetParam(), 2), 12 * 3 * 5 * 4 * element * 2);
  EXPECT_THROW(kv_cache_bytes(-1, 3, 5, 4, GetParam(), 2), std::invalid_argument);
  EXPECT_THROW(kv_cache_bytes(1, 1 << 30, 1 << 30, 4, GetParam(), 2), std::invalid_argument);
  EXPECT_EQ(cache_.bytes(), 0);
  cache_.append(tokens(5, 1), tokens(5, 2));
  EXPECT_EQ(cache_.bytes(), 2 * kv_cache_bytes(1, 3, 5, 4, GetParam(), 2));  // keys and values
  EXPECT_EQ(cache_.bytes_allocated(), 2 * kv_cache_bytes(1, 3, 8, 4, GetParam(), 2));
}

TEST_P(KVCacheTest, GroupedHeadsDivideItsBytesByTheSizeOfAGroup) {
  Generator generator(1);
  const auto bytes = [&](int64_t num_kv_heads) {
    return attention::MultiHeadAttention(
               {.d_model = 32, .num_heads = 8, .num_kv_heads = num_kv_heads, .dtype = GetParam()},
               generator)
        .make_cache(2, 100)
        .bytes_allocated();
  };
  EXPECT_EQ(bytes(8), 4 * bytes(2));
  EXPECT_EQ(bytes(8), 8 * bytes(1));
}

TEST_P(KVCacheTest, ReturnsWhatWasAppendedInOrder) {
  cache_.append(tokens(3, 1), tokens(3, 2));
  cache_.append(tokens(2, 3), tokens(2, 4));
  EXPECT_EQ(cache_.length(), 5);
  EXPECT_TRUE(same_bits(cache_.keys(), cat({tokens(3, 1), tokens(2, 3)}, 2)));
  EXPECT_TRUE(same_bits(cache_.values(), cat({tokens(3, 2), tokens(2, 4)}, 2)));
}

TEST_P(KVCacheTest, GivesViewsAndCopiesNothing) {
  cache_.append(tokens(3, 1), tokens(3, 2));
  EXPECT_TRUE(shares_storage(cache_.keys(), cache_.keys()));
  EXPECT_TRUE(shares_storage(cache_.values(), cache_.values()));
}

TEST_P(KVCacheTest, TruncateForgetsTheLastTokens) {
  cache_.append(tokens(5, 1), tokens(5, 2));
  cache_.truncate(2);
  EXPECT_EQ(cache_.length(), 2);
  cache_.append(tokens(1, 3), tokens(1, 4));
  EXPECT_TRUE(same_bits(cache_.keys(), cat({narrow(tokens(5, 1), 2, 0, 2), tokens(1, 3)}, 2)));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { cache_.truncate(4); },
                                            {"[kv_cache]", "cannot truncate 3 tokens to 4"}));
}

TEST_P(KVCacheTest, WhatItHoldsIsOutsideTheGraph) {
  const Tensor k = tokens(1, 1).set_requires_grad(true);
  cache_.append(k * 2.0, k * 3.0);
  EXPECT_FALSE(cache_.keys().requires_grad());
  EXPECT_FALSE(cache_.values().requires_grad());
}

TEST_P(KVCacheTest, OverflowAndWrongShapesAreRefusedBeforeAnythingIsWritten) {
  cache_.append(tokens(6, 1), tokens(6, 2));
  const Tensor keys = cache_.keys().clone();
  const auto refuses = [&](const Tensor& k, const Tensor& v, const std::string& why) {
    const auto append = [&] { cache_.append(k, v); };
    EXPECT_TRUE(throws<std::invalid_argument>(append, {"[kv_cache]", why}));
    EXPECT_EQ(cache_.length(), 6);
    EXPECT_TRUE(same_bits(cache_.keys(), keys));
  };
  refuses(tokens(3, 3), tokens(3, 4), "6 of 8 tokens; 3 more do not fit");
  refuses(tokens(1, 3), tokens(2, 4), "got [2, 3, 1, 4]");
  refuses(normal({2, 2, 1, 4}, GetParam()), normal({2, 2, 1, 4}, GetParam()), "got [2, 2, 1, 4]");
  refuses(normal({2, 3, 4}, GetParam()), normal({2, 3, 4}, GetParam()), "got [2, 3, 4]");
  const DType other = GetParam() == DType::f32 ? DType::f64 : DType::f32;
  refuses(to(tokens(1, 3), other), tokens(1, 4), name(other));
  refuses(tokens(1, 3), to(tokens(1, 4), other), name(other));
}

TEST_P(KVCacheTest, SizesBelowOneAreRefused) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { KVCache(1, 1, 0, 4); },
                                            {"[kv_cache]", "at least 1", "length 0"}));
}

INSTANTIATE_TEST_SUITE_P(Precisions, KVCacheTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

TEST(CachedForward, RecordsNothingAndNeedsCausalAttention) {
  Generator generator(1);
  const attention::MultiHeadAttention causal({.d_model = 4}, generator);
  KVCache cache = causal.make_cache(1, 4);
  EXPECT_FALSE(causal.forward(normal_variable({1, 2, 4}, DType::f32), cache).requires_grad());

  const attention::MultiHeadAttention free({.d_model = 4, .causal = false}, generator);
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        free.forward(normal({1, 1, 4}, DType::f32), cache);
      },
      {"needs causal attention"}));
}

TEST(CachedForward, RefusesToGrowBeyondTheLayersMaxLength) {
  Generator generator(1);
  const attention::MultiHeadAttention layer({.d_model = 4, .max_length = 3}, generator);
  KVCache cache = layer.make_cache(1, 10);
  layer.forward(normal({1, 3, 4}, DType::f32), cache);
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        layer.forward(normal({1, 1, 4}, DType::f32), cache);
      },
      {"[multi_head_attention]", "longer than max_length", "4 and 3"}));
  EXPECT_EQ(cache.length(), 3);
}

TEST(CachedForward, RefusesACacheOfAnotherBatchOrHeadCount) {
  Generator generator(1);
  const attention::MultiHeadAttention layer({.d_model = 4, .num_heads = 2}, generator);
  KVCache cache = layer.make_cache(2, 10);
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        layer.forward(normal({1, 1, 4}, DType::f32), cache);
      },
      {"[kv_cache]", "[1, 2, 1, 2]"}));
  EXPECT_EQ(cache.length(), 0);
}

}  // namespace
}  // namespace lookback::test
