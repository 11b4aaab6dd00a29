// mean, var, dropout, tril: values by hand, nothing, accuracy, randomness and errors.
#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

std::vector<OpCase> cases() {
  struct Choice {
    Shape shape;
    Dims dims;
    std::string name;
  };
  std::vector<OpCase> cases;
  for (const auto& [shape, dims, where] :
       {Choice{{2, 3}, {}, "all_of_2x3"}, Choice{{2, 3}, -1, "rows_of_2x3"},
        Choice{{3, 2}, 0, "columns_of_3x2"}, Choice{{2, 3, 4}, {0, -1}, "two_of_2x3x4"},
        Choice{{0, 3}, 1, "rows_of_0x3"}}) {
    for (const bool keepdim : {false, true}) {
      const std::string suffix = where + (keepdim ? "_keepdim" : "");
      cases.push_back({"mean_" + suffix,
                       [dims = dims, keepdim](const auto& x) { return mean(x[0], dims, keepdim); },
                       inputs_of({shape})});
      cases.push_back({"var_" + suffix,
                       [dims = dims, keepdim](const auto& x) { return var(x[0], dims, keepdim); },
                       inputs_of({shape})});
    }
    cases.push_back({"var_biased_" + where,
                     [dims = dims](const auto& x) { return var(x[0], dims, false, 0); },
                     inputs_of({shape})});
  }
  cases.push_back({"mean_scalar", [](const auto& x) { return mean(x[0]); }, inputs_of({{}})});
  // The same seed in every call makes dropout a function.
  for (const double p : {0.0, 0.3, 1.0}) {
    cases.push_back({"dropout_" + std::to_string(static_cast<int>(p * 10)) + "_tenths",
                     [p](const auto& x) {
                       Generator generator(5);
                       return dropout(x[0] * 1.0, p, generator);
                     },
                     inputs_of({{3, 5}})});
  }
  for (const int64_t diagonal : {-1, 0, 1}) {
    for (const Shape& shape : {Shape{3, 3}, Shape{2, 2, 4}, Shape{4, 2}}) {
      cases.push_back({"tril_" + shape_name(shape) + "_" + std::to_string(diagonal + 1),
                       [diagonal](const auto& x) { return tril(x[0], diagonal); },
                       inputs_of({shape})});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Derived, OpTest, testing::ValuesIn(cases()), case_name);

Tensor two_by_three() { return from_vector<double>({1, 2, 6, 4, 4, 10}, {2, 3}); }

// --- mean and var -------------------------------------------------------------------------------

TEST(Derived, Mean) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(has_values(mean(x), {}, {4.5}));
  EXPECT_TRUE(has_values(mean(x, 1), {2}, {3, 6}));
  EXPECT_TRUE(has_values(mean(x, 0, true), {1, 3}, {2.5, 3, 8}));
  EXPECT_TRUE(has_values(mean(x, {0, -1}, true), {1, 1}, {4.5}));
}

TEST(Derived, Var) {
  const Tensor x = two_by_three();  // deviations of row 0: -2 -1 3; of row 1: -2 -2 4
  EXPECT_TRUE(has_values(var(x, 1), {2}, {7, 12}, 1e-15));
  EXPECT_TRUE(has_values(var(x, 1, true, 0), {2, 1}, {14.0 / 3, 8}, 1e-15));
  EXPECT_TRUE(has_values(var(x, 0), {3}, {4.5, 2, 8}, 1e-15));
  EXPECT_TRUE(has_values(var(x, {}, false, 0), {}, {8.583333333333334}, 1e-15));
}

TEST(Derived, GradientOfTheMeanIsEqualShares) {
  const Tensor x = two_by_three().set_requires_grad(true);
  EXPECT_TRUE(has_values(grad(mean(x, 1), {x}, from_vector<double>({3, 6}, {2}))[0], {2, 3},
                         {1, 1, 1, 2, 2, 2}));
}

TEST(Derived, MeanOfNothingIsNaN) {
  EXPECT_TRUE(all_nan(mean(ones({0}))));
  EXPECT_TRUE(all_nan(mean(ones({2, 0}), 1)));
  EXPECT_TRUE(all_nan(var(ones({2, 0}), 1)));
  EXPECT_EQ(mean(ones({2, 0}), 0).shape(), (Shape{0}));
}

TEST(Derived, VarOfOneElementIsNaNUnlessBiased) {
  EXPECT_TRUE(all_nan(var(ones({1}))));
  EXPECT_TRUE(has_values(var(ones({1}), {}, false, 0), {}, {0}));
}

TEST(Derived, VarIsTwoPass) {
  const Tensor x = to(numbers({1000}, -1, 1) + 1e4, DType::f32);
  const double expected = var(to(x, DType::f64)).item<double>();
  EXPECT_NEAR(var(x).item<double>() / expected, 1, 1e-4);
}

TEST(Derived, MeanOfTenMillionFloatsIsAccurate) {
  const Tensor x = expand(full({1}, 0.1), {10000000}).contiguous();
  EXPECT_NEAR(mean(x).item<double>() / static_cast<double>(0.1F), 1, 1e-6);
}

TEST(Derived, MeanAndVarRefuseIntegersAndBadDimensions) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { mean(arange(3)); }, {"[mean]", "i64"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { var(arange(3)); }, {"[var]", "i64"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { mean(ones({2, 3}), 2); }, {"[mean] dimension 2"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { var(ones({2, 3}), -3); }, {"[var] dimension -3"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { mean(ones({2, 3}), {1, 1}); }, {"distinct"}));
}

// --- dropout ------------------------------------------------------------------------------------

TEST(Derived, DropoutScalesWhatItKeeps) {
  Generator generator(1);
  const Tensor y = dropout(ones({10000}, DType::f64), 0.25, generator);
  int64_t kept = 0;
  for (const double value : y.to_vector<double>()) {
    EXPECT_TRUE(value == 0 || std::abs(value - 1 / 0.75) < 1e-15) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 7500, 200);  // 4.6 standard deviations
}

TEST(Derived, DropoutIsTheIdentityWhenNotTraining) {
  Generator generator(1);
  const Tensor x = numbers({5});
  EXPECT_TRUE(dropout(x, 0.5, generator, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, generator).is_same(x));
  EXPECT_EQ(generator.next_bits(), Generator(1).next_bits());  // no draws were spent
}

TEST(Derived, DropoutOfEverythingIsZeroWhateverWasThere) {
  Generator generator(1);
  const Tensor x = full({3}, std::numeric_limits<double>::infinity(), DType::f64);
  EXPECT_TRUE(all_zero(dropout(x, 1, generator)));
}

TEST(Derived, DropoutRepeatsWithItsSeedAndGoesOnWithItsGenerator) {
  Generator one(7);
  Generator same(7);
  const Tensor x = ones({100});
  const Tensor first = dropout(x, 0.5, one);
  EXPECT_TRUE(same_bits(first, dropout(x, 0.5, same)));
  EXPECT_FALSE(same_bits(first, dropout(x, 0.5, one)));
}

TEST(Derived, DropoutDropsTheSameInBothPrecisions) {
  Generator one(7);
  Generator same(7);
  const Tensor y = dropout(ones({100}, DType::f32), 0.5, one);
  EXPECT_TRUE(same_bits(y, to(dropout(ones({100}, DType::f64), 0.5, same), DType::f32)));
}

TEST(Derived, DropoutRefusesProbabilitiesOutsideZeroToOne) {
  Generator generator(1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double p : {-0.1, 1.1, nan}) {
    EXPECT_TRUE(throws<std::invalid_argument>([&] { dropout(ones({2}), p, generator); },
                                              {"[dropout]", "[0, 1]"}));
  }
  EXPECT_TRUE(throws<std::invalid_argument>([&] { dropout(arange(2), 0.5, generator); },
                                            {"[dropout]", "i64"}));
}

// --- tril ---------------------------------------------------------------------------------------

TEST(Derived, Tril) {
  const Tensor x = reshape(arange(1, 10, DType::f64), {3, 3});
  EXPECT_TRUE(has_values(tril(x), {3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9}));
  EXPECT_TRUE(has_values(tril(x, 1), {3, 3}, {1, 2, 0, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(has_values(tril(x, -1), {3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0}));
  EXPECT_TRUE(same_bits(tril(x, 5), x));
  EXPECT_TRUE(all_zero(tril(x, -5)));
}

TEST(Derived, TrilOfRectanglesAndBatches) {
  EXPECT_TRUE(has_values(tril(ones({2, 4})), {2, 4}, {1, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_TRUE(has_values(tril(ones({2, 2, 2})), {2, 2, 2}, {1, 0, 1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(tril(ones({0, 3})).shape(), (Shape{0, 3}));
}

TEST(Derived, TrilSelectsSoThatNaNAboveTheDiagonalIsGone) {
  const Tensor x = full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(all_zero(select(select(tril(x), 0, 0), 0, 1)));
}

TEST(Derived, TrilKeepsEveryDtype) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    EXPECT_EQ(tril(ones({2, 2}, dtype)).dtype(), dtype);
    EXPECT_TRUE(has_values(tril(ones({2, 2}, dtype)), {2, 2}, {1, 0, 1, 1}));
  }
}

TEST(Derived, TrilRefusesVectors) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { tril(ones({3})); }, {"[tril]", "[3]"}));
}

}  // namespace
}  // namespace lookback::test
