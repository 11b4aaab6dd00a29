// The fused attention kernels: values. The fast kernel against its plain twin over odd sizes,
// masks and layouts, and the twin against finite differences. Equality of bits is in
// kernels_attention_bits_test.cpp, NaN and infinity in kernels_attention_nonfinite_test.cpp.
#include <cmath>
#include <limits>

#include "engine/kernels/attention.h"
#include "tests/engine/kernels_attention_case.h"

#ifndef LOOKBACK_REFERENCE_KERNELS
#include <hwy/targets.h>
#endif

namespace lookback::test {
namespace {

// Units of rounding, relative to the largest element: outputs are means of values, gradients are
// sums of up to a thousand terms.
constexpr double kForwardUlps = 16;
constexpr double kBackwardUlps = 64;

template <class T>
void expect_twins_agree(const Sizes& sizes) {
  SCOPED_TRACE(sizes);
  Case<T> fast(sizes);
  Case<T> plain(sizes);
  fast.forward();
  plain.forward_reference();
  EXPECT_TRUE(close(fast.out, plain.out, kForwardUlps));
  for (size_t n = 0; n < plain.lse.data.size(); ++n) {
    if (std::isinf(plain.lse.data[n])) {
      EXPECT_EQ(fast.lse.data[n], plain.lse.data[n]) << "row without keys " << n;
      fast.lse.data[n] = plain.lse.data[n] = 0;
    }
  }
  EXPECT_TRUE(close(fast.lse, plain.lse, kForwardUlps));

  fast.forward();
  plain.forward_reference();
  fast.backward();
  plain.backward_reference();
  EXPECT_TRUE(close(fast.dq, plain.dq, kBackwardUlps));
  EXPECT_TRUE(close(fast.dk, plain.dk, kBackwardUlps));
  EXPECT_TRUE(close(fast.dv, plain.dv, kBackwardUlps));
}

class AttentionTwins : public testing::TestWithParam<Sizes> {};

TEST_P(AttentionTwins, AgreeInFloat32) { expect_twins_agree<float>(GetParam()); }
TEST_P(AttentionTwins, AgreeInFloat64) { expect_twins_agree<double>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(OddSizes, AttentionTwins,
                         testing::Values(Sizes{1, 1, 1, 1, 1, 1, 1}, Sizes{2, 2, 2, 7, 7, 3, 5},
                                         Sizes{1, 1, 1, 17, 17, 16, 16},
                                         Sizes{3, 2, 1, 65, 65, 65, 3},
                                         Sizes{1, 1, 1, 257, 257, 64, 64},
                                         Sizes{1, 1, 1, 129, 129, 128, 1},
                                         Sizes{1, 1, 1, 1000, 1000, 16, 16}));
INSTANTIATE_TEST_SUITE_P(WideHeads, AttentionTwins,
                         testing::Values(Sizes{1, 2, 1, 33, 33, 80, 130},
                                         Sizes{1, 1, 1, 17, 40, 130, 80},
                                         Sizes{1, 1, 1, 20, 20, 256, 256},
                                         Sizes{1, 2, 2, 1, 150, 130, 256}));
INSTANTIATE_TEST_SUITE_P(FewerOrMoreQueriesThanKeys, AttentionTwins,
                         testing::Values(Sizes{1, 2, 2, 1, 257, 16, 16},
                                         Sizes{1, 1, 1, 65, 257, 17, 16},
                                         Sizes{1, 1, 1, 65, 17, 16, 16},
                                         Sizes{2, 1, 1, 7, 1, 3, 3}));
INSTANTIATE_TEST_SUITE_P(NotCausal, AttentionTwins,
                         testing::Values(Sizes{1, 2, 2, 65, 257, 16, 16, false},
                                         Sizes{2, 1, 1, 257, 7, 3, 65, false}));
INSTANTIATE_TEST_SUITE_P(Windows, AttentionTwins,
                         testing::Values(Sizes{1, 1, 1, 65, 65, 16, 16, true, 1},
                                         Sizes{1, 2, 1, 257, 257, 16, 16, true, 40},
                                         Sizes{1, 1, 1, 257, 257, 16, 16, false, 130},
                                         Sizes{1, 1, 1, 17, 300, 16, 16, true, 1000}));
INSTANTIATE_TEST_SUITE_P(GroupedHeads, AttentionTwins,
                         testing::Values(Sizes{1, 4, 2, 65, 65, 16, 16},
                                         Sizes{2, 6, 2, 17, 257, 3, 5},
                                         Sizes{1, 8, 1, 130, 130, 16, 16},
                                         Sizes{1, 8, 2, 65, 65, 16, 16},
                                         Sizes{2, 12, 3, 7, 40, 5, 16}));
// One query, few heads of a key/value head: where values fill vectors, a kernel of its own.
INSTANTIATE_TEST_SUITE_P(Decode, AttentionTwins,
                         testing::Values(Sizes{1, 8, 2, 1, 257, 16, 16},
                                         Sizes{2, 6, 2, 1, 257, 5, 32},
                                         Sizes{2, 4, 2, 1, 130, 16, 16},
                                         Sizes{1, 8, 2, 1, 257, 16, 16, true, 0, true},
                                         Sizes{2, 6, 2, 1, 257, 5, 32, true, 0, true},
                                         Sizes{2, 4, 2, 1, 130, 16, 16, true, 0, true},
                                         Sizes{1, 8, 2, 1, 257, 16, 16, true, 140, true}));
// Rows enough for two and for four segments of the backward pass.
INSTANTIATE_TEST_SUITE_P(Segments, AttentionTwins,
                         testing::Values(Sizes{1, 8, 1, 70, 70, 4, 4},
                                         Sizes{1, 8, 1, 520, 70, 4, 4, false},
                                         Sizes{1, 8, 1, 515, 530, 4, 4, true, 20}));
INSTANTIATE_TEST_SUITE_P(Masks, AttentionTwins,
                         testing::Values(Sizes{2, 2, 1, 65, 65, 16, 16, false, 0, true},
                                         Sizes{1, 4, 2, 17, 257, 65, 3, true, 0, true},
                                         Sizes{1, 1, 1, 257, 257, 16, 16, true, 100, true}));

template <class T>
class AttentionKernels : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionKernels, ElementTypes);

TYPED_TEST(AttentionKernels, EqualScoresGiveTheMeanOfWhatIsSeen) {
  Case<TypeParam> c({1, 1, 1, 3, 4, 2, 1});
  std::fill(c.q.data.begin(), c.q.data.end(), TypeParam{0});
  c.v.data = {1, 3, 8, 0};
  c.forward();
  EXPECT_EQ(c.out.data, (std::vector<TypeParam>{2, 4, 3}));
  EXPECT_NEAR(static_cast<double>(c.lse.data[2]), std::log(4.0), 1e-6);
}

TYPED_TEST(AttentionKernels, RowWithoutKeysIsZeroAndHasNoGradient) {
  Case<TypeParam> c({1, 2, 1, 5, 3, 4, 4});  // queries 0 and 1 stand before the first key
  c.forward();
  c.dout.row(0, 0, 0)[0] = std::numeric_limits<TypeParam>::quiet_NaN();
  c.backward();
  for (int64_t h = 0; h < 2; ++h) {
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(c.lse.row(0, h, i)[0], -std::numeric_limits<TypeParam>::infinity());
      for (int64_t n = 0; n < 4; ++n) {
        EXPECT_EQ(c.out.row(0, h, i)[n], 0);
        EXPECT_EQ(c.dq.row(0, h, i)[n], 0);
      }
    }
  }
  for (const TypeParam x : c.dk.data) EXPECT_TRUE(std::isfinite(x));
}

TYPED_TEST(AttentionKernels, NothingToDo) {
  Case<TypeParam> no_queries({1, 1, 1, 0, 5, 3, 3});
  no_queries.forward();
  no_queries.backward();
  EXPECT_EQ(no_queries.dk.data, std::vector<TypeParam>(15, 0));
  Case<TypeParam> no_keys({1, 1, 1, 5, 0, 3, 3});
  no_keys.forward();
  no_keys.backward();
  EXPECT_EQ(no_keys.out.data, std::vector<TypeParam>(15, 0));
  EXPECT_EQ(no_keys.dq.data, std::vector<TypeParam>(15, 0));
}

TYPED_TEST(AttentionKernels, LargeScoresDoNotOverflow) {
  Case<TypeParam> c({1, 1, 1, 33, 33, 8, 8});
  for (TypeParam& x : c.q.data) x *= TypeParam{1e4};
  Case<TypeParam> plain = c;
  c.forward();
  plain.forward_reference();
  EXPECT_TRUE(close(c.out, plain.out, 1e3));  // 1e4 times more sensitive, mostly saturated
}

TYPED_TEST(AttentionKernels, RowsMayBeInterleavedInMemory) {
  const Sizes sizes{2, 3, 3, 37, 37, 5, 5};
  Case<TypeParam> c(sizes);
  c.forward();
  c.backward();
  // The layout (B, T, 3, H, d): what a joint projection to q, k, v leaves.
  const int64_t H = 3, n = 37, d = 5;
  Array<TypeParam> x{2, n, 3 * H, d};
  Array<TypeParam> dx = x;
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t t = 0; t < n; ++t) {
        std::copy_n(c.q.row(b, h, t), d, x.row(b, t, h));
        std::copy_n(c.k.row(b, h, t), d, x.row(b, t, H + h));
        std::copy_n(c.v.row(b, h, t), d, x.row(b, t, 2 * H + h));
      }
    }
  }
  const auto in = [&](int64_t part) {
    return kernels::Operand<TypeParam>{x.data.data() + part * H * d, n * 3 * H * d, d, 3 * H * d};
  };
  const auto to = [&](int64_t part) {
    return kernels::MutableOperand<TypeParam>{dx.data.data() + part * H * d, n * 3 * H * d, d,
                                              3 * H * d};
  };
  Array<TypeParam> out = c.out;
  kernels::attention_forward(sizes.shape(), in(0), in(1), in(2), {}, out.out(), c.lse.data.data());
  EXPECT_TRUE(same_bits(out, c.out));
  kernels::attention_backward(sizes.shape(), in(0), in(1), in(2), {}, out.in(), c.lse.data.data(),
                              c.dout.in(), to(0), to(1), to(2));
  for (int64_t t = 0; t < n; ++t) {
    EXPECT_TRUE(same_bits(dx.row(1, t, 2), c.dq.row(1, 2, t), d));
    EXPECT_TRUE(same_bits(dx.row(1, t, H), c.dk.row(1, 0, t), d));
    EXPECT_TRUE(same_bits(dx.row(1, t, 2 * H + 1), c.dv.row(1, 1, t), d));
  }
}

// Whatever nonzero byte says so, and whichever way the mask lies in memory.
TYPED_TEST(AttentionKernels, MaskThatSaysCausalIsCausal) {
  Case<TypeParam> by_position({2, 2, 1, 70, 90, 8, 8});
  by_position.forward();
  by_position.backward();
  std::vector<uint8_t> rows(70 * 90);
  std::vector<uint8_t> columns(70 * 90);
  for (int64_t i = 0; i < 70; ++i) {
    for (int64_t j = 0; j <= i + 20; ++j) {
      rows[static_cast<size_t>(i * 90 + j)] = 255;
      columns[static_cast<size_t>(j * 70 + i)] = 1;
    }
  }
  for (const kernels::MayAttend& may : {kernels::MayAttend{rows.data(), 0, 0, 90, 1},
                                        kernels::MayAttend{columns.data(), 0, 0, 1, 70}}) {
    Case<TypeParam> c({2, 2, 1, 70, 90, 8, 8, false});
    kernels::attention_forward(c.sizes.shape(), c.q.in(), c.k.in(), c.v.in(), may, c.out.out(),
                               c.lse.data.data());
    kernels::attention_backward(c.sizes.shape(), c.q.in(), c.k.in(), c.v.in(), may, c.out.in(),
                                c.lse.data.data(), c.dout.in(), c.dq.out(), c.dk.out(), c.dv.out());
    EXPECT_TRUE(same_bits(c.out, by_position.out));
    EXPECT_TRUE(same_bits(c.dq, by_position.dq));
    EXPECT_TRUE(same_bits(c.dk, by_position.dk));
    EXPECT_TRUE(same_bits(c.dv, by_position.dv));
  }
}

// Every input element of the twin, by central differences in float64.
void expect_gradient(Case<double>& c, Array<double>& x, const Array<double>& dx) {
  const double step = 1e-5;  // error about step^2 = 1e-10, and 1e-16 / step = 1e-11 from rounding
  const auto loss = [&c] {
    c.forward_reference();
    double sum = 0;
    for (size_t n = 0; n < c.out.data.size(); ++n) sum += c.out.data[n] * c.dout.data[n];
    return sum;
  };
  for (size_t n = 0; n < x.data.size(); ++n) {
    const double at = x.data[n];
    x.data[n] = at + step;
    const double above = loss();
    x.data[n] = at - step;
    const double below = loss();
    x.data[n] = at;
    EXPECT_NEAR(dx.data[n], (above - below) / (2 * step), 1e-8) << "element " << n;
  }
}

TEST(AttentionReference, BackwardIsTheDerivativeOfForward) {
  for (const Sizes& sizes :
       {Sizes{1, 1, 1, 5, 5, 3, 2}, Sizes{2, 4, 2, 3, 6, 2, 3}, Sizes{1, 2, 1, 7, 7, 2, 2, true, 3},
        Sizes{1, 2, 2, 6, 6, 2, 2, false, 0, true}, Sizes{1, 1, 1, 6, 4, 2, 2}}) {
    SCOPED_TRACE(sizes);
    Case<double> c(sizes);
    c.forward_reference();
    c.backward_reference();
    expect_gradient(c, c.q, c.dq);
    expect_gradient(c, c.k, c.dk);
    expect_gradient(c, c.v, c.dv);
  }
}

#ifndef LOOKBACK_REFERENCE_KERNELS
TYPED_TEST(AttentionKernels, EverySimdTargetAgrees) {
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  for (const int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    expect_twins_agree<TypeParam>({1, 2, 1, 65, 70, 17, 5});
    expect_twins_agree<TypeParam>({1, 1, 1, 140, 140, 8, 16, true, 50, true});
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
#endif

}  // namespace
}  // namespace lookback::test
