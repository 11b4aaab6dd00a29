// The fused attention kernels among NaN and infinity: what a query may not see never reaches it,
// and what it sees makes of it what the formula does.
#include <cmath>
#include <limits>

#include "engine/kernels/attention.h"
#include "tests/engine/kernels_attention_case.h"

namespace lookback::test {
namespace {

template <class T>
class AttentionNonfinite : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionNonfinite, ElementTypes);

// What is not seen is never read into a result: with poison at key j and query i, all rows that do
// not see it keep their bits, all that do are NaN.
template <class T>
void expect_poison_stays(Case<T> c, int64_t poisoned, double poison) {
  const auto sees = [&](int64_t i, int64_t j) {
    const kernels::KeyRange keys = kernels::visible_keys(c.sizes.shape(), i);
    return keys.begin <= j && j < keys.end && (c.may_attend.empty() || c.may(0, 0, i, j) != 0);
  };
  c.forward();
  c.backward();
  Case<T> bad = c;
  for (int64_t n = 0; n < c.sizes.d; ++n) bad.k.row(0, 0, poisoned)[n] = static_cast<T>(poison);
  for (int64_t n = 0; n < c.sizes.dv; ++n) bad.v.row(0, 0, poisoned)[n] = static_cast<T>(poison);
  bad.forward();
  bad.backward();
  for (int64_t i = 0; i < c.sizes.Tq; ++i) {
    SCOPED_TRACE(testing::Message() << "key " << poisoned << ", query " << i);
    if (sees(i, poisoned)) {
      EXPECT_FALSE(std::isfinite(bad.out.row(0, 0, i)[0]));
      EXPECT_FALSE(std::isfinite(bad.dq.row(0, 0, i)[0]));
    } else {
      EXPECT_TRUE(same_bits(bad.out.row(0, 0, i), c.out.row(0, 0, i), c.sizes.dv));
      EXPECT_TRUE(same_bits(bad.dq.row(0, 0, i), c.dq.row(0, 0, i), c.sizes.d));
    }
  }
  const int64_t query = std::min(poisoned, c.sizes.Tq - 1);
  for (const bool gradient_too : {false, true}) {
    bad = c;  // now a query, without and with its incoming gradient
    for (int64_t n = 0; n < c.sizes.d; ++n) bad.q.row(0, 0, query)[n] = static_cast<T>(poison);
    for (int64_t n = 0; n < c.sizes.dv && gradient_too; ++n) {
      bad.dout.row(0, 0, query)[n] = static_cast<T>(poison);
    }
    bad.forward();
    bad.backward();
    for (int64_t j = 0; j < c.sizes.Tk; ++j) {
      if (sees(query, j)) continue;
      SCOPED_TRACE(testing::Message() << "query " << query << ", key " << j);
      EXPECT_TRUE(same_bits(bad.dk.row(0, 0, j), c.dk.row(0, 0, j), c.sizes.d));
      EXPECT_TRUE(same_bits(bad.dv.row(0, 0, j), c.dv.row(0, 0, j), c.sizes.dv));
    }
  }
}

TYPED_TEST(AttentionNonfinite, PoisonDoesNotReachWhoCannotSeeIt) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const int64_t poisoned : {0, 9, 64, 149}) {
    for (const double poison : {std::nan(""), infinity, -infinity}) {
      expect_poison_stays(Case<TypeParam>({1, 1, 1, 150, 150, 3, 5}), poisoned, poison);
      expect_poison_stays(Case<TypeParam>({1, 1, 1, 150, 150, 17, 16, true, 20}), poisoned, poison);
      expect_poison_stays(Case<TypeParam>({1, 1, 1, 150, 150, 4, 1, false, 0, true}), poisoned,
                          poison);
      expect_poison_stays(Case<TypeParam>({1, 1, 1, 1, 150, 4, 16, true, 0, true}), poisoned,
                          poison);
    }
  }
}

TYPED_TEST(AttentionNonfinite, NanInAKeyReachesAllWhoSeeIt) {
  Case<TypeParam> c({1, 1, 1, 40, 40, 3, 5});
  c.k.row(0, 0, 10)[1] = std::numeric_limits<TypeParam>::quiet_NaN();
  c.forward();
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(std::isnan(c.out.row(0, 0, i)[4]), i >= 10) << "query " << i;
    EXPECT_EQ(std::isnan(c.lse.row(0, 0, i)[0]), i >= 10) << "query " << i;
  }
}

template <class T>
void expect_same_pattern(const Array<T>& fast, const Array<T>& plain, const char* what) {
  for (size_t n = 0; n < plain.data.size(); ++n) {
    EXPECT_EQ(std::isnan(fast.data[n]), std::isnan(plain.data[n])) << what << ", element " << n;
  }
}

// A query all of whose scores are -infinity has keys, but no distribution over them: NaN, as plain
// softmax has it, in its own row and in the gradients of what it sees, and nowhere else.
TYPED_TEST(AttentionNonfinite, ScoresThatAreAllMinusInfinityAreNoDistribution) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Sizes& sizes : {Sizes{1, 1, 1, 40, 40, 3, 5}, Sizes{1, 2, 1, 40, 40, 4, 4, true, 7},
                             Sizes{1, 1, 1, 40, 40, 3, 5, false, 0, true},
                             Sizes{1, 2, 1, 1, 40, 4, 16}, Sizes{1, 2, 1, 1, 40, 4, 16, true, 5}}) {
    SCOPED_TRACE(sizes);
    Case<TypeParam> fast(sizes);
    for (TypeParam& x : fast.k.data) x = std::abs(x);
    TypeParam* query = fast.q.row(0, 0, sizes.Tq / 2);
    std::fill(query, query + sizes.d, static_cast<TypeParam>(-infinity));
    Case<TypeParam> plain = fast;
    fast.forward();
    fast.backward();
    plain.forward_reference();
    plain.backward_reference();
    EXPECT_TRUE(std::isnan(fast.out.row(0, 0, sizes.Tq / 2)[0]));
    expect_same_pattern(fast.out, plain.out, "out");
    expect_same_pattern(fast.dq, plain.dq, "dq");
    expect_same_pattern(fast.dk, plain.dk, "dk");
    expect_same_pattern(fast.dv, plain.dv, "dv");
  }
}

}  // namespace
}  // namespace lookback::test
