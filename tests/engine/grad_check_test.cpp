// The gradient checker is a proof only if it can fail: ops with a wrong derivative, built here,
// must be caught, and the message must say where.
#include "engine/grad_check.h"

#include <cmath>
#include <limits>

#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// y = x^2 with whatever derivative is given.
template <class Derivative>
TensorFunction square_with(Derivative derivative) {
  return [derivative](const std::vector<Tensor>& in) {
    const Tensor x = in[0];
    const Tensor value = x.detach() * x.detach();
    return record("square", value, {x}, [x = Saved(x), derivative](const Tensor& dy) -> Gradients {
      return {derivative(x.get(), dy)};
    });
  };
}

// y = a b with whatever derivatives are given.
template <class Derivative>
TensorFunction product_with(Derivative derivative) {
  return [derivative](const std::vector<Tensor>& in) {
    const Tensor value = matmul(in[0].detach(), in[1].detach());
    return record("product", value, {in[0], in[1]},
                  [a = Saved(in[0]), b = Saved(in[1]), derivative](const Tensor& dy) -> Gradients {
                    return derivative(a.get(), b.get(), dy);
                  });
  };
}

Tensor t(const Tensor& x) { return transpose(x, 0, 1); }

void expect_caught(const TensorFunction& fn, const std::vector<Tensor>& inputs,
                   const std::vector<std::string>& parts) {
  const GradCheckResult result = grad_check(fn, inputs);
  EXPECT_FALSE(result.ok);
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_GT(result.largest_error, 1e-3);
  EXPECT_TRUE(contains_all(result.message, parts));
}

// --- What is right passes -----------------------------------------------------------------------

TEST(GradCheck, RecordsAlsoWhereNothingIsRecorded) {
  const NoGradGuard no_grad;
  const auto square = [](const std::vector<Tensor>& x) { return x[0] * x[0]; };
  EXPECT_TRUE(grad_check(square, {full({2}, 3.0, DType::f64)}).ok);
}

TEST(GradCheck, AcceptsARightDerivative) {
  const TensorFunction fn =
      square_with([](const Tensor& x, const Tensor& dy) { return dy * x * 2.0; });
  const GradCheckResult result = grad_check(fn, inputs_of({{2, 3}}));
  EXPECT_TRUE(result.ok) << result.message;
  EXPECT_TRUE(result.message.empty());
  EXPECT_LT(result.largest_error, 1e-8);
}

TEST(GradCheck, AcceptsARightSecondDerivative) {
  const TensorFunction fn =
      square_with([](const Tensor& x, const Tensor& dy) { return dy * x * 2.0; });
  EXPECT_TRUE(grad_grad_check(fn, inputs_of({{2, 3}})));
}

TEST(GradCheck, AcceptsScalarsAndNothing) {
  const TensorFunction fn = [](const std::vector<Tensor>& x) { return exp(x[0]); };
  EXPECT_TRUE(grad_check(fn, inputs_of({{}})));
  EXPECT_TRUE(grad_check(fn, inputs_of({{0, 3}})));
}

TEST(GradCheck, LeavesTheInputsAsTheyWere) {
  const Tensor x = numbers({2, 3}).set_requires_grad(true);
  const Tensor before = x.detach().clone();
  grad_check([](const std::vector<Tensor>& in) { return in[0] * in[0]; }, {x});
  grad_grad_check([](const std::vector<Tensor>& in) { return in[0] * in[0]; }, {x});
  EXPECT_TRUE(same_bits(x, before));
  EXPECT_EQ(x.version(), 0U);
  EXPECT_FALSE(x.grad().defined());
}

TEST(GradCheck, ChecksInFloat64WhateverTheInputsAre) {
  DType seen = DType::f32;
  const TensorFunction fn = [&](const std::vector<Tensor>& in) {
    seen = in[0].dtype();
    return in[0] * in[0];
  };
  EXPECT_TRUE(grad_check(fn, {to(numbers({3}), DType::f32)}));
  EXPECT_EQ(seen, DType::f64);
}

TEST(GradCheck, PassesIntegersAndBooleansOn) {
  const TensorFunction fn = [](const std::vector<Tensor>& in) {
    return masked_fill(index_select(in[0], 0, in[1]), in[2], 0);
  };
  EXPECT_TRUE(grad_check(fn, {numbers({4}), arange(3), mask({3})}));
}

TEST(GradCheck, WorksUnderNoGradGuardInsideTheFunction) {
  const TensorFunction fn = [](const std::vector<Tensor>& in) {
    Tensor scale;
    {
      const NoGradGuard guard;
      scale = ones({}, DType::f64) * 3.0;
    }
    return in[0] * scale;
  };
  EXPECT_TRUE(grad_check(fn, inputs_of({{3}})));
}

// --- What is wrong fails ------------------------------------------------------------------------

TEST(GradCheck, CatchesAMissingFactor) {
  expect_caught(square_with([](const Tensor& x, const Tensor& dy) { return dy * x; }),
                inputs_of({{2, 3}}), {"input 0", "[0, 0]", "analytic", "numeric", "difference"});
}

TEST(GradCheck, CatchesAWrongSign) {
  expect_caught(square_with([](const Tensor& x, const Tensor& dy) { return dy * x * -2.0; }),
                inputs_of({{3}}), {"input 0", "[0]"});
}

TEST(GradCheck, CatchesAGradientThatIgnoresTheIncomingOne) {
  expect_caught(square_with([](const Tensor& x, const Tensor&) { return x.detach() * 2.0; }),
                inputs_of({{2, 2}}), {"input 0"});
}

TEST(GradCheck, CatchesATransposedIncomingGradient) {
  expect_caught(square_with([](const Tensor& x, const Tensor& dy) { return t(dy) * x * 2.0; }),
                inputs_of({{3, 3}}), {"input 0", "[0, 1]"});
}

TEST(GradCheck, CatchesATransposedProductGradientAndNamesItsInput) {
  const auto wrong_right = [](const Tensor& a, const Tensor& b, const Tensor& dy) -> Gradients {
    return {matmul(dy, t(b)), matmul(a, dy)};
  };
  expect_caught(product_with(wrong_right), inputs_of({{3, 3}, {3, 3}}), {"input 1", "[0, 0]"});
}

TEST(GradCheck, NamesTheFirstWrongElement) {
  const TensorFunction fn = square_with([](const Tensor& x, const Tensor& dy) {
    const Tensor right = dy * x * 2.0;
    const Tensor wrong = right.detach().clone();
    select(select(wrong, 0, 1), 0, 2).fill_(77);
    return wrong;
  });
  expect_caught(fn, inputs_of({{2, 3}}), {"gradient of input 0 at [1, 2]: analytic 77"});
}

TEST(GradCheck, CatchesAGradientThatIsNotSummedOverItsBroadcast) {
  const TensorFunction first_row_only = [](const std::vector<Tensor>& in) {
    const Tensor value = in[0].detach() + in[1].detach();  // (2, 3) + (3)
    return record("add_row", value, {in[0], in[1]}, [](const Tensor& dy) -> Gradients {
      return {dy, select(dy, 0, 0)};
    });
  };
  expect_caught(first_row_only, inputs_of({{2, 3}, {3}}), {"input 1", "[0]"});
}

TEST(GradCheck, AGradientOfTheWrongShapeIsAnErrorThatNamesTheOp) {
  const TensorFunction not_reduced = [](const std::vector<Tensor>& in) {
    const Tensor value = in[0].detach() + in[1].detach();
    return record("add_row", value, {in[0], in[1]}, [](const Tensor& dy) -> Gradients {
      return {dy, dy};
    });
  };
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        grad_check(not_reduced, inputs_of({{2, 3}, {3}}));
      },
      {"add_row", "gradient of shape [2, 3]", "input of shape [3]"}));
}

TEST(GradCheck, TooFewGradientsAreAnErrorThatNamesTheOp) {
  const TensorFunction forgetful = [](const std::vector<Tensor>& in) {
    return record("forgetful", in[0].detach() + in[1].detach(), {in[0], in[1]},
                  [](const Tensor& dy) -> Gradients { return {dy}; });
  };
  EXPECT_TRUE(throws<std::invalid_argument>(
      [&] {
        grad_check(forgetful, inputs_of({{3}, {3}}));
      },
      {"forgetful", "1 gradients for 2 inputs"}));
}

TEST(GradCheck, CatchesAForgottenInput) {
  const TensorFunction fn = [](const std::vector<Tensor>& in) { return in[0] * in[1].detach(); };
  expect_caught(fn, inputs_of({{2}, {2}}), {"input 1", "[0]", "analytic 0"});
}

TEST(GradCheck, CatchesAResultThatWasNotRecorded) {
  const GradCheckResult result = grad_check(
      [](const std::vector<Tensor>& in) { return in[0].detach() * 2.0; }, inputs_of({{2}}));
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains_all(result.message, {"recorded"}));
}

TEST(GradCheck, CatchesNaNInTheGradientAndInTheFunction) {
  const TensorFunction nan_gradient =
      square_with([](const Tensor& x, const Tensor& dy) { return dy * x * kNaN; });
  EXPECT_FALSE(grad_check(nan_gradient, inputs_of({{2}})));
  const TensorFunction nan_value = [](const std::vector<Tensor>& in) { return in[0] * kNaN; };
  EXPECT_FALSE(grad_check(nan_value, inputs_of({{2}})));
}

TEST(GradCheck, CatchesAKink) {
  const TensorFunction fn = [](const std::vector<Tensor>& in) { return abs(in[0]); };
  EXPECT_FALSE(grad_check(fn, {from_vector<double>({1, 0.000004}, {2})}));
}

// --- Second derivatives -------------------------------------------------------------------------

TEST(GradGradCheck, CatchesASecondDerivativeThatIsMissing) {
  // The gradient is right, but x was detached: it is a constant to the second sweep.
  const TensorFunction fn =
      square_with([](const Tensor& x, const Tensor& dy) { return dy * (x.detach() * 2.0); });
  EXPECT_TRUE(grad_check(fn, inputs_of({{2, 3}})));
  const GradCheckResult result = grad_grad_check(fn, inputs_of({{2, 3}}));
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains_all(result.message, {"input 0", "[0, 0]", "analytic 0"}));
}

TEST(GradGradCheck, CatchesAGradientThatIsNotDifferentiableInTheIncomingOne) {
  const TensorFunction fn =
      square_with([](const Tensor& x, const Tensor& dy) { return dy.detach() * x * 2.0; });
  EXPECT_TRUE(grad_check(fn, inputs_of({{2}})));
  const GradCheckResult result = grad_grad_check(fn, inputs_of({{2}}));
  EXPECT_FALSE(result.ok);
  EXPECT_TRUE(contains_all(result.message, {"input 1", "[0]"}));  // the incoming gradient
}

TEST(GradGradCheck, CatchesAWrongSecondDerivative) {
  // dx = 2 x dy, whose own backward claims d(dx)/dx = 3 dy.
  const TensorFunction fn = square_with([](const Tensor& x, const Tensor& dy) {
    const Tensor value = x.detach() * dy.detach() * 2.0;
    return record("wrong", value, {x, dy},
                  [x = Saved(x), dy = Saved(dy)](const Tensor& d) -> Gradients {
                    return {d * dy * 3.0, d * x * 2.0};
                  });
  });
  EXPECT_TRUE(grad_check(fn, inputs_of({{2}})));
  EXPECT_FALSE(grad_grad_check(fn, inputs_of({{2}})));
}

TEST(GradGradCheck, AcceptsAFunctionWhoseSecondDerivativeIsZero) {
  EXPECT_TRUE(grad_grad_check([](const std::vector<Tensor>& in) { return sum(in[0]); },
                              inputs_of({{2, 3}})));
}

// --- Options ------------------------------------------------------------------------------------

TEST(GradCheck, ToleranceAndStepCanBeChosen) {
  const TensorFunction fn =
      square_with([](const Tensor& x, const Tensor& dy) { return dy * x * 2.02; });
  EXPECT_FALSE(grad_check(fn, inputs_of({{2, 3}})));
  EXPECT_TRUE(grad_check(fn, inputs_of({{2, 3}}), {.step = 1e-4, .absolute_tolerance = 0.2}));
}

}  // namespace
}  // namespace lookback::test
