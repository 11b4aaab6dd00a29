// Causality: token i of the output depends on tokens 0 ... i of the input and on nothing later.
// Proved in two ways, for every layer:
//
//   by perturbation  change token t to anything at all; what may not see it keeps its bits, what
//                    may see it changes;
//   by gradient      d out_i / d x_j is exactly zero where i may not see j, nonzero where it may.
//
// The first is about what the numbers are, the second about how the graph is wired: either can
// hold without the other (a detached matrix is causal by gradient; a leak below rounding is
// causal by perturbation).
#include <limits>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr int64_t B = 4;
constexpr int64_t T = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// x with token t of every batch item filled with `value`.
Tensor with_token(const Tensor& x, int64_t t, double value) {
  const Tensor changed = x.clone();
  select(changed, 1, t).fill_(value);
  return changed;
}

bool same_row(const Tensor& a, const Tensor& b, int64_t i) {
  return same_bits(select(a, 1, i), select(b, 1, i));
}

class CausalityTest : public testing::TestWithParam<LayerCase> {
 protected:
  const LayerCase& layer_case() const { return GetParam(); }
  const LayerSize size_{.T_max = T};
  const CausalLayer layer_ = GetParam().make(size_);
  const Tensor x_ = normal({B, T, size_.d_model()}, GetParam().dtype);
};

TEST_P(CausalityTest, ByPerturbationAnotherTokenChangesExactlyWhatMaySeeIt) {
  const Tensor before = layer_.forward(x_);
  for (int64_t t = 0; t < T; ++t) {
    const Tensor other = x_.clone();
    select(other, 1, t).copy_(normal({B, size_.d_model()}, layer_case().dtype, 99));
    const Tensor after = layer_.forward(other);
    for (int64_t i = 0; i < T; ++i) {
      EXPECT_EQ(same_row(before, after, i), !layer_case().sees(i, t))
          << "token " << t << " changed; output " << i;
    }
  }
}

TEST_P(CausalityTest, ByPerturbationHugeValuesReachNothingEarlier) {
  const Tensor before = layer_.forward(x_);
  for (const double huge : {1e15, -1e15}) {
    for (int64_t t = 0; t < T; ++t) {
      const Tensor after = layer_.forward(with_token(x_, t, huge));
      EXPECT_FALSE(same_row(before, after, t));
      EXPECT_TRUE(same_bits(narrow(after, 1, 0, t), narrow(before, 1, 0, t)))
          << "token " << t << " was set to " << huge;
    }
  }
}

// The composed path multiplies masked values by zero, and 0 * infinity is NaN: see
// meanings_test.cpp. The fused path does not read them.
TEST_P(CausalityTest, ByPerturbationInfinityAndNaNReachNothingEarlierOnTheFusedPath) {
  const Tensor before = layer_.forward(x_);
  for (const double poison : {kInfinity, -kInfinity, kNaN}) {
    for (int64_t t = 0; t < T; ++t) {
      const Tensor after = layer_.forward(with_token(x_, t, poison));
      EXPECT_TRUE(all_nan(select(after, 1, t)));
      if (!layer_case().fused) continue;
      for (int64_t i = 0; i < T; ++i) {
        if (layer_case().sees(i, t)) continue;
        EXPECT_TRUE(same_row(before, after, i))
            << "token " << t << " was set to " << poison << "; output " << i;
      }
    }
  }
}

TEST_P(CausalityTest, ByGradientEveryOutputDependsOnExactlyWhatItMaySee) {
  x_.set_requires_grad(true);
  const Tensor out = layer_.forward(x_);
  for (int64_t i = 0; i < T; ++i) {
    const Tensor out_0i = sum(select(select(out, 0, 0), 0, i));  // batch item 0, token i
    const Tensor dx = grad(out_0i, {x_}, {}, {.retain_graph = true})[0];
    for (int64_t j = 0; j < T; ++j) {
      const Tensor dx_0j = select(select(dx, 0, 0), 0, j);
      EXPECT_EQ(static_cast<bool>(all_zero(dx_0j)), !layer_case().sees(i, j))
          << "d out[0, " << i << "] / d x[0, " << j << "] = " << dx_0j;
    }
    EXPECT_TRUE(all_zero(narrow(dx, 0, 1, B - 1))) << "other batch items, output " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(AllLayers, CausalityTest, testing::ValuesIn(causal_layers()),
                         layer_name<LayerCase>);

// The same statement for the numbers of the lesson: x (4, 8, 32), Head(32, 16, T_max 8), token 3.
class LessonTest : public testing::TestWithParam<DType> {};

TEST_P(LessonTest, TheGradientOfOutput3IsZeroAfterToken3AndInOtherBatchItems) {
  Generator generator(42);
  attention::Head head(32, 16, 8, generator, {.dtype = GetParam()});
  const Tensor x = normal_variable({4, 8, 32}, GetParam());

  sum(select(select(head.forward(x), 0, 0), 0, 3)).backward();

  const Tensor item_0 = select(x.grad(), 0, 0);
  for (int64_t j = 0; j <= 3; ++j) EXPECT_FALSE(all_zero(select(item_0, 0, j))) << j;
  for (int64_t j = 4; j < 8; ++j) EXPECT_TRUE(all_zero(select(item_0, 0, j))) << j;
  for (int64_t b = 1; b < 4; ++b) EXPECT_TRUE(all_zero(select(x.grad(), 0, b))) << b;
}

INSTANTIATE_TEST_SUITE_P(Precisions, LessonTest, testing::Values(DType::f32, DType::f64),
                         dtype_name);

}  // namespace
}  // namespace lookback::test
