// Small weights: exp(-x) counts down to the smallest normal number, in attention, forward and
// backward, and in softmax. A test that compares sums cannot see them beside the weight 1.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kernels/softmax.h"
#include "tests/engine/kernels_attention_case.h"
#include "tests/engine/kernels_support.h"

namespace lookback::test {
namespace {

template <class T>
class SmallWeights : public testing::Test {};
TYPED_TEST_SUITE(SmallWeights, kernels::Floats);

constexpr double kUlps = 4;

// 0 ... -ln(smallest normal number), and what is next to the ends and to integers.
template <class T>
std::vector<T> depths() {
  const T deepest = static_cast<T>(sizeof(T) == 4 ? 87.3365 : 708.396);
  std::vector<T> x = kernels::random_values<T>(700, 0, deepest);
  for (T k = 0; k < deepest; ++k) x.push_back(k);
  x.push_back(deepest);
  return x;
}

// Of two scores 0 and -x the second one's share of the sum.
long double share(long double x) { return std::exp(-x) / (1 + std::exp(-x)); }

// One query with the scores 0 and -x in each batch, and the values 0 and 1: the output is the
// small weight. `rows` queries and `width` value columns choose between the kernels.
template <class T>
void expect_weights_count(const std::vector<T>& x, int64_t rows, int64_t width) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << width << " columns");
  Case<T> c({static_cast<int64_t>(x.size()), 1, 1, rows, 2, 1, width, false});
  std::fill(c.q.data.begin(), c.q.data.end(), T{1});
  std::fill(c.dout.data.begin(), c.dout.data.end(), T{0});
  for (size_t n = 0; n < x.size(); ++n) {
    const auto b = static_cast<int64_t>(n);
    c.k.row(b, 0, 0)[0] = 0;
    c.k.row(b, 0, 1)[0] = -x[n];
    std::fill_n(c.v.row(b, 0, 0), width, T{0});
    std::fill_n(c.v.row(b, 0, 1), width, T{1});
    std::fill_n(c.dout.row(b, 0, 0), width, T{1});
  }
  c.forward();
  c.backward();
  for (size_t n = 0; n < x.size(); ++n) {
    const auto b = static_cast<int64_t>(n);
    // Rounding x once costs x units of the result. The exponential may err by two of that, where
    // there is no fused multiply-add; backward, x + lse is rounded too.
    const long double want = share(x[n]);
    const double unit = static_cast<double>(x[n]);
    ASSERT_LE(kernels::ulp_error(c.out.row(b, 0, 0)[width - 1], want), kUlps + 2 * unit) << x[n];
    ASSERT_LE(kernels::ulp_error(c.dv.row(b, 0, 1)[width - 1], want), kUlps + 3 * unit) << x[n];
  }
}

TYPED_TEST(SmallWeights, CountInAttention) {
  const std::vector<TypeParam> x = depths<TypeParam>();
  kernels::on_each_target([&] {
    expect_weights_count<TypeParam>(x, 1, 16);  // a decoding step
    expect_weights_count<TypeParam>(x, 1, 3);
    expect_weights_count<TypeParam>(x, 2, 1);
  });
}

// Beside exp(-40) = 4e-18 stands a value that makes it large.
TYPED_TEST(SmallWeights, ALargeValueShowsThem) {
  for (const int64_t width : {1, 16}) {
    Case<TypeParam> c({1, 1, 1, 1, 2, 1, width, false});
    c.q.data = {1};
    c.k.data = {0, -40};
    std::fill_n(c.v.row(0, 0, 0), width, TypeParam{0});
    std::fill_n(c.v.row(0, 0, 1), width, static_cast<TypeParam>(1e20));
    c.forward();
    EXPECT_NEAR(static_cast<double>(c.out.data[0]), 1e20 * std::exp(-40.0), 1e-3);
  }
}

// A weight that has shrunk under a new largest score: a block of keys later.
TYPED_TEST(SmallWeights, CountAcrossBlocksOfKeys) {
  for (const int64_t width : {1, 16}) {
    Case<TypeParam> c({1, 1, 1, 1, 300, 1, width, false});
    c.q.data = {1};
    std::fill(c.k.data.begin(), c.k.data.end(), -std::numeric_limits<TypeParam>::infinity());
    std::fill(c.v.data.begin(), c.v.data.end(), TypeParam{0});
    c.k.row(0, 0, 5)[0] = -40;
    c.k.row(0, 0, 299)[0] = 0;
    std::fill_n(c.v.row(0, 0, 5), width, static_cast<TypeParam>(1e20));
    c.forward();
    EXPECT_NEAR(static_cast<double>(c.out.data[0]), 1e20 * std::exp(-40.0), 1e-3);
  }
}

TYPED_TEST(SmallWeights, CountInSoftmax) {
  using T = TypeParam;
  const std::vector<T> x = depths<T>();
  const auto rows = static_cast<int64_t>(x.size());
  std::vector<T> scores;
  for (const T depth : x) scores.insert(scores.end(), {T{0}, -depth});
  kernels::on_each_target([&] {
    std::vector<T> weights(scores.size());
    kernels::softmax_rows(rows, 2, scores.data(), 2, weights.data(), 2);
    for (size_t n = 0; n < x.size(); ++n) {
      ASSERT_LE(kernels::ulp_error(weights[2 * n + 1], share(x[n])), kUlps) << x[n];
    }
  });
}

}  // namespace
}  // namespace lookback::test
