// What the fused attention kernels and their twins share, and which comparing the two therefore
// cannot test: the keys that a query sees. And how the rows are dealt to segments.
#include "engine/kernels/attention_problem.h"

#include <gtest/gtest.h>

#include <vector>

namespace lookback::test {
namespace {

// The rule in the words of attention.h, for one query and one key.
bool sees(const kernels::AttentionShape& shape, int64_t i, int64_t j) {
  const int64_t p = i + (shape.Tk - shape.Tq);
  if (shape.window > 0) return p - shape.window < j && j <= p;
  return !shape.causal || j <= p;
}

TEST(AttentionProblem, VisibleKeysAreTheRule) {
  const std::vector<int64_t> lengths = {1, 2, 7, 64, 65, 66, 130, 200};
  for (const int64_t Tq : lengths) {
    for (const int64_t Tk : lengths) {
      for (const int64_t window : {0, 1, 2, 3, 63, 64, 65, 66, 100, 129, 130, 199, 200, 1000}) {
        for (const bool causal : {false, true}) {
          const kernels::AttentionShape shape{1, 1, 1, Tq, Tk, 1, 1, 1, causal, window};
          for (int64_t i = 0; i < Tq; ++i) {
            const kernels::KeyRange keys = kernels::visible_keys(shape, i);
            ASSERT_GE(keys.begin, 0);
            ASSERT_LE(keys.end, Tk);
            for (int64_t j = 0; j < Tk; ++j) {
              ASSERT_EQ(keys.begin <= j && j < keys.end, sees(shape, i, j))
                  << "query " << i << " of " << Tq << ", key " << j << " of " << Tk << ", window "
                  << window << ", causal " << causal;
            }
          }
        }
      }
    }
  }
}

// Every tile has one segment, and of any 2 S tiles in a row that begin at a multiple of 2 S each
// segment has two, whose places add up to the same: causal work is shared evenly.
TEST(AttentionProblem, SegmentsDealOutAllTiles) {
  for (const auto& [rows, S] : {std::pair{1, 1}, {511, 1}, {512, 2}, {4095, 2}, {4096, 4}}) {
    kernels::AttentionGradients<float> g{};
    g.in.shape = {1, 1, 1, rows, 8, 1, 1, 1, true, 0};
    ASSERT_EQ(g.segments(), S) << rows;
    for (int64_t first = 0; first < 6 * S; first += 2 * S) {
      std::vector<int64_t> tiles(static_cast<size_t>(S));
      std::vector<int64_t> places(tiles);
      for (int64_t n = 0; n < 2 * S; ++n) {
        const int64_t segment = g.segment_of(first + n);
        ASSERT_TRUE(0 <= segment && segment < S) << "tile " << first + n << " of " << S;
        ++tiles[static_cast<size_t>(segment)];
        places[static_cast<size_t>(segment)] += n;
      }
      EXPECT_EQ(tiles, std::vector<int64_t>(tiles.size(), 2));
      EXPECT_EQ(places, std::vector<int64_t>(tiles.size(), 2 * S - 1));
    }
  }
}

// The query heads of a group count as rows.
TEST(AttentionProblem, RowsOfAGroupCountForSegments) {
  kernels::AttentionGradients<float> g{};
  g.in.shape = {1, 8, 1, 512, 8, 1, 1, 1, true, 0};
  EXPECT_EQ(g.segments(), 4);
  g.in.shape.kv_heads = 2;
  EXPECT_EQ(g.segments(), 2);
}

TEST(AttentionProblem, BalancedOrderTakesEachUnitOnce) {
  for (int64_t count = 1; count < 10; ++count) {
    std::vector<int64_t> taken(static_cast<size_t>(count));
    for (int64_t n = 0; n < count; ++n) {
      const int64_t unit = kernels::balanced(n, count);
      ASSERT_TRUE(0 <= unit && unit < count);
      ++taken[static_cast<size_t>(unit)];
    }
    EXPECT_EQ(taken, std::vector<int64_t>(taken.size(), 1)) << count;
  }
}

// A row and its place are each other's.
TEST(AttentionProblem, PlacesOfGroupedHeads) {
  kernels::AttentionInputs<float> in{};
  in.shape = {2, 8, 2, 3, 8, 1, 1, 1, true, 0};
  for (int64_t pair = 0; pair < in.pairs(); ++pair) {
    for (int64_t row = 0; row < in.rows(); ++row) {
      const kernels::Place at = kernels::place_of(in, pair, row);
      EXPECT_EQ(at.b * 2 + at.g, pair);
      EXPECT_EQ(at.g, at.h / 4);
      EXPECT_EQ(at.i * 4 + at.h % 4, row);
    }
  }
}

}  // namespace
}  // namespace lookback::test
