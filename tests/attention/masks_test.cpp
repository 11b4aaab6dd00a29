// The masks against their definitions, one element at a time, at every window up to 200.
#include "attention/attention.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

struct Sizes {
  int64_t Tq, Tk;
};
// As many queries as keys; fewer, as behind a cache; more, so that the first ones see nothing.
constexpr Sizes kSizes[] = {{203, 203}, {9, 210}, {207, 150}, {1, 200}, {5, 1}};

// The key whose place query i stands at: the last query stands at the last key.
int64_t place(int64_t i, const Sizes& s) { return s.Tk - s.Tq + i; }

// The first element that differs from rule(i, j), or success.
template <class Rule>
testing::AssertionResult follows(const Tensor& mask, const Sizes& s, const Rule& rule) {
  if (mask.shape() != Shape({s.Tq, s.Tk}) || mask.dtype() != DType::boolean) {
    return testing::AssertionFailure() << mask.shape() << ' ' << mask.dtype();
  }
  const Tensor whole = mask.contiguous();
  const auto* element = whole.data<Boolean>();
  for (int64_t i = 0; i < s.Tq; ++i) {
    for (int64_t j = 0; j < s.Tk; ++j, ++element) {
      if (static_cast<bool>(*element) == rule(i, j)) continue;
      return testing::AssertionFailure()
             << s.Tq << " queries, " << s.Tk << " keys: query " << i << ", key " << j;
    }
  }
  return testing::AssertionSuccess();
}

TEST(Masks, CausalIsEveryKeyUpToTheQuerysPlace) {
  for (const Sizes& s : kSizes) {
    EXPECT_TRUE(follows(attention::causal_mask(s.Tq, s.Tk), s,
                        [&](int64_t i, int64_t j) { return j <= place(i, s); }));
  }
}

TEST(Masks, AWindowIsTheLastWKeysUpToTheQuerysPlace) {
  for (const Sizes& s : kSizes) {
    for (int64_t W = 1; W <= 200; ++W) {
      EXPECT_TRUE(follows(attention::sliding_window_mask(s.Tq, s.Tk, W), s,
                          [&](int64_t i, int64_t j) {
                            const int64_t back = place(i, s) - j;
                            return 0 <= back && back < W;
                          }))
          << "window " << W;
    }
  }
}

}  // namespace
}  // namespace lookback::test
