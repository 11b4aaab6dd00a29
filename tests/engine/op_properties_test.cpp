// What holds for every op, whatever it computes. Each property runs over the whole table of cases
// that the family files fill (support/op_cases.h).
#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

bool is_variable(const Tensor& x) { return is_floating(x.dtype()); }

// A value and the gradients of all floating-point inputs, under a seed without symmetries.
struct Outcome {
  Tensor value;
  std::vector<Tensor> gradients;
};

Outcome outcome(const OpCase& op_case, const std::vector<Tensor>& inputs,
                const std::vector<Tensor>& variables, const Tensor& seed) {
  const Tensor y = op_case.fn(inputs);
  return {y.detach(), grad(y, variables, to(seed, y.dtype()))};
}

Tensor seed_of(const OpCase& op_case) {
  return numbers(op_case.fn(op_case.inputs).shape(), 0.5, 1.5, 99);
}

// Copies of the inputs as variables of this dtype.
std::vector<Tensor> variables_of(const std::vector<Tensor>& inputs, DType dtype) {
  std::vector<Tensor> copies;
  for (const Tensor& x : inputs) {
    copies.push_back(is_variable(x) ? to(x, dtype).clone().set_requires_grad(true) : x);
  }
  return copies;
}

std::vector<Tensor> only_variables(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> variables;
  for (const Tensor& x : inputs) {
    if (is_variable(x)) variables.push_back(x);
  }
  return variables;
}

Outcome plain_outcome(const OpCase& op_case, DType dtype = DType::f64) {
  const std::vector<Tensor> inputs = variables_of(op_case.inputs, dtype);
  return outcome(op_case, inputs, only_variables(inputs), seed_of(op_case));
}

// An undefined gradient is a zero one.
Tensor defined_or_zero(const Tensor& gradient, const Tensor& like) {
  return gradient.defined() ? gradient : zeros(like.shape(), like.dtype());
}

TEST_P(OpTest, GradientEqualsFiniteDifferences) {
  const GradCheckResult result = grad_check(GetParam().fn, GetParam().inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST_P(OpTest, GradientOfGradientEqualsFiniteDifferences) {
  const GradCheckResult result = grad_grad_check(GetParam().fn, GetParam().inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

// Strided inputs and a strided incoming gradient give the same numbers as contiguous ones.
void check_layout(const OpCase& op_case, Strided (*layout)(const Tensor&)) {
  const Outcome expected = plain_outcome(op_case);
  std::vector<Tensor> views;
  std::vector<Tensor> variables;
  for (const Tensor& x : op_case.inputs) {
    const Strided strided = layout(x);
    EXPECT_TRUE(same_bits(strided.view, x));
    views.push_back(strided.view);
    if (is_variable(x)) variables.push_back(strided.view);
  }
  const Outcome actual = outcome(op_case, views, variables, layout(seed_of(op_case)).view.detach());
  EXPECT_TRUE(all_close(actual.value, expected.value, 1e-13));
  for (size_t i = 0; i < variables.size(); ++i) {
    EXPECT_TRUE(all_close(defined_or_zero(actual.gradients[i], variables[i]),
                          defined_or_zero(expected.gradients[i], variables[i]), 1e-12))
        << "gradient of variable " << i;
  }
}

TEST_P(OpTest, StridedInputsGiveTheSame) {
  check_layout(GetParam(), stepped);
  check_layout(GetParam(), reversed);
}

TEST_P(OpTest, Float32FollowsFloat64) {
  OpCase rounded = GetParam();
  for (Tensor& x : rounded.inputs) {
    if (is_variable(x)) x = to(to(x, DType::f32), DType::f64);
  }
  const Outcome expected = plain_outcome(rounded, DType::f64);
  const Outcome actual = plain_outcome(rounded, DType::f32);
  EXPECT_TRUE(all_close(to(actual.value, DType::f64), to(expected.value, DType::f64), 1e-5));
  for (size_t i = 0; i < expected.gradients.size(); ++i) {
    if (!expected.gradients[i].defined()) continue;
    EXPECT_EQ(actual.gradients[i].dtype(), DType::f32);
    EXPECT_TRUE(all_close(to(actual.gradients[i], DType::f64), expected.gradients[i], 1e-5))
        << "gradient of variable " << i;
  }
}

// What one input's gradient is must not depend on whether the others have one.
TEST_P(OpTest, EachInputAloneGetsTheSameGradient) {
  EXPECT_FALSE(GetParam().fn(GetParam().inputs).requires_grad()) << "recorded, all constants";
  const Outcome expected = plain_outcome(GetParam());
  size_t variable = 0;
  for (size_t i = 0; i < GetParam().inputs.size(); ++i) {
    if (!is_variable(GetParam().inputs[i])) continue;
    std::vector<Tensor> inputs = GetParam().inputs;
    inputs[i] = inputs[i].clone().set_requires_grad(true);
    const Outcome actual = outcome(GetParam(), inputs, {inputs[i]}, seed_of(GetParam()));
    EXPECT_TRUE(same_bits(actual.value, expected.value));
    EXPECT_TRUE(same_bits(defined_or_zero(actual.gradients[0], inputs[i]),
                          defined_or_zero(expected.gradients[variable], inputs[i])))
        << "gradient of input " << i;
    ++variable;
  }
}

}  // namespace
}  // namespace lookback::test
