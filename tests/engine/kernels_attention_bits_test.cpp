// The fused attention kernels: same bits. A row of the output has the same bits whatever the
// number of queries, the batch, the heads, the threads, the tile it falls into and the keys after
// it; gradients have the same bits whatever the batch and the threads. All compared with ==.
#include "engine/kernels/attention.h"
#include "engine/kernels/threads.h"
#include "tests/engine/kernels_attention_case.h"

namespace lookback::test {
namespace {

template <class T>
class AttentionBits : public testing::Test {
 protected:
  ~AttentionBits() override { set_num_threads(threads_); }

 private:
  int threads_ = num_threads();
};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionBits, ElementTypes);

// The queries [first, first + Tq) of `c` against its keys [0, Tk), all else equal.
template <class T>
Case<T> cut(Case<T>& c, int64_t first, int64_t Tq, int64_t Tk) {
  Sizes sizes = c.sizes;
  sizes.Tq = Tq;
  sizes.Tk = Tk;
  sizes.masked = false;
  Case<T> part(sizes);
  for (int64_t b = 0; b < sizes.B; ++b) {
    for (int64_t h = 0; h < sizes.H; ++h) {
      std::copy_n(c.q.row(b, h, first), Tq * sizes.d, part.q.row(b, h, 0));
      if (c.may_attend.empty()) continue;
      for (int64_t i = 0; i < Tq; ++i) {
        for (int64_t j = 0; j < Tk; ++j) part.may(b, h, i, j) = c.may(b, h, first + i, j);
      }
    }
    for (int64_t g = 0; g < sizes.G; ++g) {
      std::copy_n(c.k.row(b, g, 0), Tk * sizes.d, part.k.row(b, g, 0));
      std::copy_n(c.v.row(b, g, 0), Tk * sizes.dv, part.v.row(b, g, 0));
    }
  }
  return part;
}

// Rows [0, part.Tq) of `part` are rows [first, first + part.Tq) of `c`.
template <class T>
void expect_same_rows(Case<T>& part, Case<T>& c, int64_t first) {
  SCOPED_TRACE(testing::Message() << part.sizes << " from row " << first << " of " << c.sizes);
  for (int64_t b = 0; b < c.sizes.B; ++b) {
    for (int64_t h = 0; h < c.sizes.H; ++h) {
      EXPECT_TRUE(
          same_bits(part.out.row(b, h, 0), c.out.row(b, h, first), part.sizes.Tq * c.sizes.dv));
      EXPECT_TRUE(same_bits(part.lse.row(b, h, 0), c.lse.row(b, h, first), part.sizes.Tq));
    }
  }
}

std::vector<Sizes> variants(int64_t n) {
  return {{1, 1, 1, n, n, 16, 16},          {2, 4, 2, n, n, 3, 5},
          {1, 2, 2, n, n, 1, 65},           {1, 2, 1, n, n, 16, 3, true, 37},
          {1, 1, 1, n, n, 8, 8, true, 140}, {1, 2, 1, n, n, 8, 32, true, 0, true}};
}

TYPED_TEST(AttentionBits, PrefixOfTheSequence) {
  for (const Sizes& sizes : variants(257)) {
    Case<TypeParam> full(sizes);
    full.forward();
    for (const int64_t n : {1, 7, 17, 65, 127, 128, 129, 256}) {
      Case<TypeParam> prefix = cut(full, 0, n, n);
      prefix.forward();
      expect_same_rows(prefix, full, 0);
    }
  }
}

TYPED_TEST(AttentionBits, DecodeAgainstACache) {
  for (const Sizes& sizes : variants(150)) {
    Case<TypeParam> full(sizes);
    full.forward();
    for (int64_t i = 0; i < 150; ++i) {
      Case<TypeParam> step = cut(full, i, 1, i + 1);
      step.forward();
      expect_same_rows(step, full, i);
    }
  }
}

TYPED_TEST(AttentionBits, AnySplitIntoChunks) {
  for (const Sizes& sizes : variants(257)) {
    Case<TypeParam> full(sizes);
    full.forward();
    for (const int64_t chunk : {3, 33, 100}) {
      for (int64_t i = 0; i < 257; i += chunk) {
        const int64_t rows = std::min<int64_t>(chunk, 257 - i);
        Case<TypeParam> part = cut(full, i, rows, i + rows);
        part.forward();
        expect_same_rows(part, full, i);
      }
    }
  }
}

// Batch b alone; its gradients too.
TYPED_TEST(AttentionBits, BatchRowAlone) {
  for (const Sizes& sizes : {Sizes{5, 2, 1, 67, 67, 16, 16}, Sizes{3, 1, 1, 600, 600, 3, 5}}) {
    Case<TypeParam> all(sizes);
    all.forward();
    all.backward();
    Sizes one = sizes;
    one.B = 1;
    for (int64_t b = 0; b < sizes.B; ++b) {
      Case<TypeParam> alone(one);
      std::copy_n(all.q.row(b, 0, 0), alone.q.data.size(), alone.q.data.data());
      std::copy_n(all.k.row(b, 0, 0), alone.k.data.size(), alone.k.data.data());
      std::copy_n(all.v.row(b, 0, 0), alone.v.data.size(), alone.v.data.data());
      std::copy_n(all.dout.row(b, 0, 0), alone.dout.data.size(), alone.dout.data.data());
      alone.forward();
      alone.backward();
      const auto equal = [b](Array<TypeParam>& x, Array<TypeParam>& y) {
        return same_bits(x.data.data(), y.row(b, 0, 0), static_cast<int64_t>(x.data.size()));
      };
      EXPECT_TRUE(equal(alone.out, all.out)) << sizes << " batch " << b;
      EXPECT_TRUE(equal(alone.dq, all.dq)) << sizes << " batch " << b;
      EXPECT_TRUE(equal(alone.dk, all.dk)) << sizes << " batch " << b;
      EXPECT_TRUE(equal(alone.dv, all.dv)) << sizes << " batch " << b;
    }
  }
}

// Query head h alone, with the key/value head that serves it.
TYPED_TEST(AttentionBits, HeadAlone) {
  Case<TypeParam> all({1, 6, 2, 129, 150, 9, 7});
  all.forward();
  for (int64_t h = 0; h < 6; ++h) {
    Case<TypeParam> alone({1, 1, 1, 129, 150, 9, 7});
    std::copy_n(all.q.row(0, h, 0), alone.q.data.size(), alone.q.data.data());
    std::copy_n(all.k.row(0, h / 3, 0), alone.k.data.size(), alone.k.data.data());
    std::copy_n(all.v.row(0, h / 3, 0), alone.v.data.size(), alone.v.data.data());
    alone.forward();
    EXPECT_TRUE(same_bits(alone.out.row(0, 0, 0), all.out.row(0, h, 0), 129 * 7)) << "head " << h;
  }
}

TYPED_TEST(AttentionBits, AnyNumberOfThreads) {
  for (const Sizes& sizes :
       {Sizes{1, 1, 1, 530, 530, 16, 16}, Sizes{1, 8, 1, 520, 520, 3, 3},
        Sizes{3, 2, 1, 300, 300, 16, 3}, Sizes{5, 2, 2, 65, 65, 16, 16, true, 0, true},
        Sizes{1, 2, 2, 520, 520, 5, 8, true, 33}}) {
    set_num_threads(1);
    Case<TypeParam> one(sizes);
    one.forward();
    one.backward();
    for (const int threads : {2, 3, 8}) {
      set_num_threads(threads);
      Case<TypeParam> many(sizes);
      many.forward();
      many.backward();
      SCOPED_TRACE(testing::Message() << sizes << ", threads " << threads);
      EXPECT_TRUE(same_bits(many.out, one.out));
      EXPECT_TRUE(same_bits(many.lse, one.lse));
      EXPECT_TRUE(same_bits(many.dq, one.dq));
      EXPECT_TRUE(same_bits(many.dk, one.dk));
      EXPECT_TRUE(same_bits(many.dv, one.dv));
    }
  }
}

}  // namespace
}  // namespace lookback::test
