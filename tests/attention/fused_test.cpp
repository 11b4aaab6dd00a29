// Fused attention is the composed formula, block by block: values and gradients agree within a
// few ulp for every shape, mask and layout. It reads nothing that is masked.
//
// The stated bound: |fused - composed| <= 32 eps max|composed| for outputs, and 128 eps max|...|
// for gradients, with eps 2^-23 (f32) or 2^-52 (f64). A row of T keys sums T products in another
// order in each path; the sums here have up to 300 terms and the errors grow as their square root.
#include <limits>

#include "attention/attention.h"
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

using attention::fused_attention;
using attention::scaled_dot_product_attention;

struct FusedCase {
  std::string name;
  int64_t B, H, H_kv, Tq, Tk, d_k, d_v;
  bool causal = false;
  int64_t window = 0;
  DType dtype = DType::f32;
};

std::ostream& operator<<(std::ostream& out, const FusedCase& c) {
  return out << c.name << '_' << c.dtype;
}

std::vector<FusedCase> fused_cases() {
  std::vector<FusedCase> all;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::vector<FusedCase> cases = {
        {"OneToken", 1, 1, 1, 1, 1, 1, 1, true},
        {"OneQuery", 2, 3, 3, 1, 65, 16, 16, true},
        {"Square", 2, 2, 2, 17, 17, 8, 8},
        {"SquareCausal", 2, 2, 2, 17, 17, 8, 8, true},
        {"WidthOne", 1, 1, 1, 33, 33, 1, 1, true},
        {"WideValues", 1, 2, 2, 7, 9, 3, 65},
        {"WideKeys", 1, 2, 2, 9, 9, 65, 3, true},
        {"MoreKeys", 1, 2, 2, 5, 70, 16, 16, true},
        {"MoreQueries", 1, 2, 2, 70, 5, 16, 16, true},
        {"Grouped", 2, 6, 2, 19, 19, 5, 7, true},
        {"MultiQuery", 2, 4, 1, 19, 19, 8, 8, true},
        {"Window", 1, 2, 2, 40, 40, 8, 8, true, 7},
        {"WindowOfOne", 1, 2, 2, 9, 9, 4, 4, true, 1},
        {"GroupedWindowMoreKeys", 1, 4, 2, 31, 50, 8, 8, true, 12},
        {"Long", 1, 1, 1, 300, 300, 16, 16, true},
    };
    for (FusedCase c : cases) {
      c.dtype = dtype;
      all.push_back(c);
    }
  }
  return all;
}

class FusedTest : public testing::TestWithParam<FusedCase> {
 protected:
  const FusedCase& c() const { return GetParam(); }

  // The composed formula with the same mask; query heads of a group in a dimension of their own.
  Tensor composed(const Tensor& mask) const {
    Tensor allowed = mask;
    if (c().causal) {
      const Tensor visible = c().window > 0
                                 ? attention::sliding_window_mask(c().Tq, c().Tk, c().window)
                                 : attention::causal_mask(c().Tq, c().Tk);
      allowed = mask.defined() ? logical_and(mask, visible) : visible;
    }
    if (allowed.defined() && allowed.dim() == 4) {
      allowed = reshape(allowed, {c().B, c().H_kv, c().H / c().H_kv, c().Tq, c().Tk});
    }
    const Tensor q = reshape(q_, {c().B, c().H_kv, c().H / c().H_kv, c().Tq, c().d_k});
    const auto result =
        scaled_dot_product_attention(q, unsqueeze(k_, 2), unsqueeze(v_, 2), allowed);
    return reshape(result.output, {c().B, c().H, c().Tq, c().d_v});
  }
  Tensor fused(const Tensor& mask) const {
    return fused_attention(q_, k_, v_, mask, {.causal = c().causal, .window = c().window});
  }
  void expect_within_ulp(const Tensor& a, const Tensor& b, double ulp) const {
    const double eps = c().dtype == DType::f32 ? std::numeric_limits<float>::epsilon()
                                               : std::numeric_limits<double>::epsilon();
    const double difference = max(abs(a.detach() - b.detach())).item<double>();
    const double size = max(abs(b.detach())).item<double>();
    EXPECT_LE(difference, ulp * eps * size) << "ulp: " << difference / (eps * size);
  }
  void expect_agreement(const Tensor& mask) const {
    const Tensor y = fused(mask);
    const Tensor expected = composed(mask);
    expect_within_ulp(y, expected, 32);
    const Tensor seed = normal(y.shape(), c().dtype, 4);
    const auto gradients = grad(y, {q_, k_, v_}, seed);
    const auto wanted = grad(expected, {q_, k_, v_}, seed);
    // A gradient that vanishes (one key: the weight is 1 whatever the score) is all rounding; what
    // it is made of is of the order of one.
    for (size_t i = 0; i < 3; ++i) {
      expect_within_ulp(cat({reshape(gradients[i], {-1}), ones({1}, c().dtype)}),
                        cat({reshape(wanted[i], {-1}), ones({1}, c().dtype)}), 128);
    }
  }

  const Tensor q_ = normal_variable({c().B, c().H, c().Tq, c().d_k}, c().dtype, 1);
  const Tensor k_ = normal_variable({c().B, c().H_kv, c().Tk, c().d_k}, c().dtype, 2);
  const Tensor v_ = normal_variable({c().B, c().H_kv, c().Tk, c().d_v}, c().dtype, 3);
};

TEST_P(FusedTest, EqualsTheComposedFormulaInValuesAndGradients) { expect_agreement({}); }

TEST_P(FusedTest, EqualsItUnderARandomMaskPerHead) {
  const Tensor mask = normal({c().B, c().H, c().Tq, c().Tk}, DType::f32, 8) > -0.5;
  expect_agreement(mask);
}

TEST_P(FusedTest, EqualsItUnderAMaskThatLeavesSomeQueriesNothing) {
  expect_agreement(normal({c().Tq, 1}, DType::f32, 8) > 0.0);
}

TEST_P(FusedTest, ReadsOperandsOfAnyLayout) {
  const auto strided = [](const Tensor& x) {
    return transpose(transpose(x.detach(), 1, 2).contiguous(), 1, 2);  // as (B, T, H, d)
  };
  const auto columns = [](const Tensor& x) {
    return transpose(transpose(x.detach(), 2, 3).contiguous(), 2, 3);
  };
  const attention::FusedOptions options{.causal = c().causal, .window = c().window};
  const Tensor expected = fused({});
  EXPECT_TRUE(
      same_bits(fused_attention(strided(q_), strided(k_), strided(v_), {}, options), expected));
  EXPECT_TRUE(
      same_bits(fused_attention(columns(q_), columns(k_), columns(v_), {}, options), expected));
}

TEST_P(FusedTest, ASecondDerivativeWorksThroughTheComposedForm) {
  if (c().Tq > 20 || c().dtype == DType::f32) return;  // covered by the small float64 cases
  const Tensor seed = normal(q_.shape(), c().dtype, 5);
  const auto second = [&](const Tensor& y) {
    const Tensor dq = grad(sum(y * y), {q_}, {}, {.create_graph = true})[0];
    return grad(sum(dq * seed), {k_})[0];
  };
  EXPECT_TRUE(all_close(second(fused({})), second(composed({})), 1e-11));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FusedTest, testing::ValuesIn(fused_cases()),
                         layer_name<FusedCase>);

TEST(Fused, TwoDimensionsStandForOneHeadAndThreeForABatchOfThem) {
  const Tensor q = normal({3, 5, 4});
  const Tensor mask = normal({3, 5, 5}, DType::f32, 2) > 0.0;  // one per batch item
  const Tensor three = fused_attention(q, q, q, mask);
  const Tensor four =
      fused_attention(unsqueeze(q, 1), unsqueeze(q, 1), unsqueeze(q, 1), unsqueeze(mask, 1));
  EXPECT_TRUE(same_bits(three, squeeze(four, 1)));
  for (int64_t b = 0; b < 3; ++b) {
    const Tensor item = select(q, 0, b);
    EXPECT_TRUE(
        same_bits(fused_attention(item, item, item, select(mask, 0, b)), select(three, 0, b)));
  }
}

// A mask of three dimensions beside heads is one per head, as broadcasting says, not one per item.
TEST(Fused, AMaskPerHeadBroadcastsOverTheBatch) {
  const Tensor q = normal({2, 2, 5, 4});
  const Tensor mask = normal({2, 5, 5}, DType::f32, 2) > 0.0;
  EXPECT_TRUE(all_close(fused_attention(q, q, q, mask),
                        scaled_dot_product_attention(q, q, q, mask).output, 1e-14));
}

// Neither by the kernel nor by the formula that stands in for it when the gradient is recorded, nor
// into a gradient of a gradient.
TEST(Fused, NaNUnderAMaskReachesNoGradient) {
  const Tensor not_key_3 = unsqueeze(arange(6), 0) != 3.0;
  const auto gradients_with = [&](double key_3, bool create_graph) {
    const std::vector<Tensor> x = {normal_variable({5, 4}, DType::f64, 1),
                                   normal({6, 4}, DType::f64, 2), normal({6, 4}, DType::f64, 3)};
    for (const size_t i : {size_t{1}, size_t{2}}) {
      select(x[i], 0, 3).fill_(key_3);
      x[i].set_requires_grad(true);
    }
    auto first = grad(sum(fused_attention(x[0], x[1], x[2], not_key_3)), x, {},
                      {.create_graph = create_graph});
    if (!create_graph) return first;
    const auto second = grad(sum(first[0] * first[0]) + sum(first[1]) + sum(first[2]), x);
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  for (const bool create_graph : {false, true}) {
    const auto clean = gradients_with(1, create_graph);
    for (const double poison :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const auto poisoned = gradients_with(poison, create_graph);
      for (size_t i = 0; i < clean.size(); ++i) {
        EXPECT_TRUE(same_bits(poisoned[i], clean[i])) << i << " create_graph " << create_graph;
      }
      EXPECT_TRUE(all_zero(select(poisoned[1], 0, 3)));
    }
  }
}

// What is seen is not hidden: a NaN query or key makes its gradients NaN on both paths.
TEST(Fused, NaNThatIsSeenReachesTheGradientsAlsoWhenTheyAreRecorded) {
  const std::vector<Tensor> x = {normal_variable({5, 4}, DType::f64, 1),
                                 normal({5, 4}, DType::f64, 2),
                                 normal_variable({5, 4}, DType::f64, 3)};
  const Tensor out = fused_attention(x[0], x[1], x[2], {}, {.causal = true});
  const Tensor before = narrow(grad(sum(out), {x[0]})[0], 0, 0, 2);
  select(x[1], 0, 2).fill_(std::numeric_limits<double>::quiet_NaN());
  x[1].set_requires_grad(true);
  for (const bool create_graph : {false, true}) {
    const auto g = grad(sum(fused_attention(x[0], x[1], x[2], {}, {.causal = true})), x, {},
                        {.create_graph = create_graph});
    EXPECT_TRUE(all_close(narrow(g[0], 0, 0, 2), before, 1e-14)) << create_graph;
    for (const Tensor& seen : {narrow(g[0], 0, 2, 3), g[1], g[2]}) {
      EXPECT_TRUE(all_nan(seen)) << create_graph;
    }
  }
}

TEST(Fused, OperandsThatDoNotFitAreRefused) {
  const Tensor x = normal({2, 4, 5, 8});
  const auto refuses = [](const std::function<void()>& call, const std::string& why) {
    EXPECT_TRUE(throws<std::invalid_argument>(call, {"attention]", why}));
  };
  refuses([&] { fused_attention(x, select(x, 0, 0), x); }, "same number of dimensions");
  refuses([&] { fused_attention(x, narrow(x, 3, 0, 4), x); }, "[2, 4, 5, 4]");
  refuses([&] { fused_attention(x, x, narrow(x, 2, 0, 4)); }, "[2, 4, 4, 8]");
  refuses([&] { fused_attention(x, narrow(x, 1, 0, 3), narrow(x, 1, 0, 3)); }, "divide");
  refuses([&] { fused_attention(x, to(x, DType::f32), x); }, "dtypes must match");
  refuses(
      [&] {
        fused_attention(x, x, x, ones({5, 5}));
      },
      "must be boolean, true = may attend; got f32");
  refuses(
      [&] {
        fused_attention(x, x, x, ones({4, 5}, DType::boolean));
      },
      "here [5, 5]; got [4, 5]");
  refuses([&] { fused_attention(x, x, x, {}, {.scale = std::nan("")}); }, "must be finite");
  refuses([&] { fused_attention(x, x, x, {}, {.window = -1}); }, "must not be negative");
}

}  // namespace
}  // namespace lookback::test
