// matmul: values by hand, every combination of ranks, broadcast batches, sizes 0, and errors.
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

struct Pair {
  Shape a, b, result;
};

std::vector<Pair> pairs() {
  return {{{2, 3}, {3, 4}, {2, 4}},
          {{1, 1}, {1, 1}, {1, 1}},
          {{3}, {3}, {}},
          {{3}, {3, 4}, {4}},
          {{2, 3}, {3}, {2}},
          {{3}, {2, 3, 4}, {2, 4}},
          {{2, 4, 3}, {3}, {2, 4}},
          {{2, 2, 3}, {2, 3, 4}, {2, 2, 4}},
          {{2, 2, 3}, {3, 4}, {2, 2, 4}},
          {{2, 3}, {2, 3, 4}, {2, 2, 4}},
          {{1, 2, 3}, {3, 3, 2}, {3, 2, 2}},
          {{2, 1, 2, 3}, {3, 3, 1}, {2, 3, 2, 1}},
          {{2, 2, 2, 3}, {3, 2}, {2, 2, 2, 2}},
          {{0, 3}, {3, 2}, {0, 2}},
          {{2, 0}, {0, 3}, {2, 3}},
          {{2, 3}, {3, 0}, {2, 0}},
          {{0, 2, 3}, {3, 2}, {0, 2, 2}},
          {{1, 2, 3}, {3, 0}, {1, 2, 0}},
          {{2, 3, 0}, {0, 2}, {2, 3, 2}},
          {{2, 0, 3}, {3, 2}, {2, 0, 2}}};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const auto& [a, b, result] : pairs()) {
    cases.push_back({shape_name(a) + "_by_" + shape_name(b),
                     [](const auto& x) { return matmul(x[0], x[1]); }, inputs_of({a, b})});
  }
  cases.push_back({"x_times_w_transposed",
                   [](const auto& x) { return matmul(x[0], transpose(x[1], 0, 1)); },
                   inputs_of({{2, 2, 3}, {4, 3}})});
  cases.push_back({"q_times_k_transposed",
                   [](const auto& x) { return matmul(x[0], transpose(x[1], -2, -1)); },
                   inputs_of({{2, 2, 3}, {2, 4, 3}})});
  cases.push_back({"of_expanded_batches",
                   [](const auto& x) {
                     return matmul(expand(x[0], {2, 2, 3}), expand(x[1], {2, 3, 2}));
                   },
                   inputs_of({{1, 2, 3}, {1, 3, 2}})});
  cases.push_back(
      {"with_itself", [](const auto& x) { return matmul(x[0], x[0]); }, inputs_of({{3, 3}})});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Matmul, OpTest, testing::ValuesIn(cases()), case_name);

// The definition, element by element: both at least two-dimensional, same batch.
Tensor by_definition(const Tensor& a, const Tensor& b) {
  const Tensor products = unsqueeze(a, -1) * unsqueeze(b, -3);  // (..., M, K, N)
  return sum(products, -2);
}

// --- Values -------------------------------------------------------------------------------------

TEST(Matmul, Values) {
  const Tensor a = from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = from_vector<double>({1, 0, 2, 1, 0, -1}, {3, 2});
  EXPECT_TRUE(has_values(matmul(a, b), {2, 2}, {5, -1, 14, -1}));
  EXPECT_TRUE(has_values(matmul(a, select(b, 1, 0)), {2}, {5, 14}));
  EXPECT_TRUE(has_values(matmul(select(a, 0, 0), b), {2}, {5, -1}));
  EXPECT_TRUE(has_values(matmul(select(a, 0, 0), select(a, 0, 1)), {}, {32}));
}

TEST(Matmul, GradientsByHand) {
  const Tensor a = from_vector<double>({1, 2, 3, 4}, {2, 2}).set_requires_grad(true);
  const Tensor b = from_vector<double>({5, 6, 7, 8}, {2, 2}).set_requires_grad(true);
  const auto gradients =
      grad(matmul(a, b), {a, b}, from_vector<double>({1, 10, 100, 1000}, {2, 2}));
  EXPECT_TRUE(has_values(gradients[0], {2, 2}, {65, 87, 6500, 8700}));
  EXPECT_TRUE(has_values(gradients[1], {2, 2}, {301, 3010, 402, 4020}));
}

TEST(Matmul, ResultShapes) {
  for (const auto& [a, b, result] : pairs()) {
    EXPECT_EQ(matmul(ones(a), ones(b)).shape(), result) << a << " by " << b;
  }
}

TEST(Matmul, EqualsItsDefinition) {
  for (const auto& [M, K, N] : {std::array<int64_t, 3>{1, 1, 1}, {7, 5, 3}, {13, 40, 33}}) {
    const Tensor a = numbers({2, M, K}, -1, 1, 1);
    const Tensor b = numbers({2, K, N}, -1, 1, 2);
    EXPECT_TRUE(all_close(matmul(a, b), by_definition(a, b), 1e-13));
  }
}

TEST(Matmul, TransposedOperandsGiveTheSameBits) {
  const Tensor a = numbers({9, 17}, -1, 1, 1);
  const Tensor b = numbers({17, 11}, -1, 1, 2);
  const Tensor expected = matmul(a, b);
  EXPECT_TRUE(same_bits(matmul(reversed(a).view.detach(), b), expected));
  EXPECT_TRUE(same_bits(matmul(a, reversed(b).view.detach()), expected));
  EXPECT_TRUE(same_bits(matmul(stepped(a).view.detach(), stepped(b).view.detach()), expected));
}

TEST(Matmul, RowsAndBatchesDoNotDependOnTheirNumber) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor a = to(numbers({3, 14, 37}, -1, 1, 1), dtype);
    const Tensor b = to(numbers({37, 21}, -1, 1, 2), dtype);
    const Tensor whole = matmul(a, b);
    for (const int64_t rows : {1, 5, 13}) {
      EXPECT_TRUE(same_bits(matmul(narrow(a, 1, 0, rows), b), narrow(whole, 1, 0, rows)));
    }
    for (const int64_t n : {0, 1, 2}) {
      EXPECT_TRUE(same_bits(matmul(select(a, 0, n), b), select(whole, 0, n)));
    }
  }
}

TEST(Matmul, ATallProductEqualsItsBatches) {
  const Tensor a = numbers({4, 6, 5});
  const Tensor b = numbers({5, 7}, -2, 2, 2);
  EXPECT_TRUE(same_bits(matmul(a, b), matmul(a, expand(b, {4, 5, 7}))));
}

TEST(Matmul, ASumOverNothingIsZero) {
  EXPECT_TRUE(has_values(matmul(ones({2, 0}), ones({0, 2})), {2, 2}, {0, 0, 0, 0}));
  EXPECT_TRUE(has_values(matmul(ones({0}), ones({0})), {}, {0}));
  EXPECT_TRUE(all_zero(matmul(ones({3, 2, 0}), ones({0, 2}))));
}

TEST(Matmul, NaNStaysInItsRowAndColumn) {
  const Tensor a = numbers({5, 6});
  select(select(a, 0, 2), 0, 3).fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor y = matmul(a, numbers({6, 4}));
  EXPECT_TRUE(all_nan(select(y, 0, 2)));
  EXPECT_TRUE(same_bits(select(y, 0, 1), matmul(select(a, 0, 1), numbers({6, 4}))));
}

TEST(Matmul, ZeroTimesInfinityIsNaNAsTheAlgebraSays) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(all_nan(matmul(zeros({1, 2}), full({2, 1}, infinity))));
}

TEST(Matmul, TheGradientOfATransposedWeightIsContiguous) {
  const Tensor w = numbers({4, 3}).set_requires_grad(true);
  const Tensor y = matmul(numbers({5, 3}), transpose(w, 0, 1));
  EXPECT_TRUE(grad(sum(y), {w})[0].is_contiguous());
}

// --- Errors -------------------------------------------------------------------------------------

TEST(Matmul, RefusesInnerDimensionsThatDoNotMatch) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({2, 3}), ones({4, 5}));
      },
      {"[matmul] inner dimensions must match; got [2, 3] and [4, 5]"}));
}

TEST(Matmul, ErrorsNameOneDimensionalShapesAsTheyWereGiven) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({3}), ones({4, 5}));
      },
      {"[matmul]", "got [3] and [4, 5]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({4, 5}), ones({4}));
      },
      {"[matmul]", "got [4, 5] and [4]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { matmul(ones({3}), ones({4})); },
                                            {"[matmul]", "got [3] and [4]"}));
}

TEST(Matmul, RefusesBatchesThatDoNotBroadcast) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({2, 2, 3}), ones({3, 3, 2}));
      },
      {"[matmul]", "[2, 2, 3]", "[3, 3, 2]"}));
}

TEST(Matmul, RefusesScalars) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { matmul(ones({}), ones({2})); },
                                            {"[matmul]", "[] and [2]"}));
}

TEST(Matmul, RefusesOtherDtypesAndIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({2, 2}), ones({2, 2}, DType::f64));
      },
      {"[matmul]", "f32 and f64"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        matmul(ones({2, 2}, DType::i64), ones({2, 2}, DType::i64));
      },
      {"[matmul]", "i64"}));
}

}  // namespace
}  // namespace lookback::test
