// Saved tensors: one that was changed after it was saved is an error, never a wrong gradient.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;
using test::has_values;
using test::throws;
using test::variable;

TEST(Saved, GivesTheTensorBack) {
  const Tensor x = constant({1, 2});
  const Saved saved(x);
  EXPECT_TRUE(saved.get().is_same(x));
  EXPECT_FALSE(saved.requires_grad());
  EXPECT_TRUE(Saved(variable({1})).requires_grad());
}

TEST(Saved, MayBeUndefined) {
  const Saved saved{Tensor()};
  EXPECT_FALSE(saved.get().defined());
  EXPECT_FALSE(saved.requires_grad());
}

TEST(Saved, RefusesToGiveAChangedOne) {
  const Tensor x = constant({1, 2});
  x.fill_(3);
  const Saved saved(x);  // changes before saving do not count
  EXPECT_NO_THROW(saved.get());
  x.fill_(4);
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { saved.get(); }, {"[2]", "version 1 was saved, now 2"}));
}

TEST(Saved, NoticesChangesThroughAnyView) {
  const Tensor x = zeros({2, 2});
  const Saved saved(x);
  const Saved saved_view(select(x, 0, 0));
  transpose(x.detach(), 0, 1).fill_(1);
  EXPECT_THROW(saved.get(), std::invalid_argument);
  EXPECT_THROW(saved_view.get(), std::invalid_argument);
}

// --- In graphs ----------------------------------------------------------------------------------

struct Case {
  std::string op;
  std::function<Tensor(const Tensor& x, const Tensor& c)> fn;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.op; }

class ChangedInput : public testing::TestWithParam<Case> {};

// x is a variable, c a constant of the same shape that the derivative needs.
TEST_P(ChangedInput, IsAnErrorThatNamesTheOp) {
  const Tensor x = variable({1, 2, 3, 4}, {2, 2});
  const Tensor c = constant({5, 6, 7, 8}, {2, 2});
  const Tensor y = sum(GetParam().fn(x, c));
  c.fill_(0);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); },
                                            {"[backward]", GetParam().op, "changed in place"}));
  EXPECT_FALSE(x.grad().defined());
}

TEST_P(ChangedInput, AlsoWhenAViewOfItChanged) {
  const Tensor x = variable({1, 2, 3, 4}, {2, 2});
  const Tensor c = constant({5, 6, 7, 8}, {2, 2});
  const Tensor y = sum(GetParam().fn(x, c));
  select(c, 1, 0).copy_(constant({0, 0}));
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); }, {GetParam().op}));
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ChangedInput,
    testing::Values(Case{"mul", [](const Tensor& x, const Tensor& c) { return x * c; }},
                    Case{"div", [](const Tensor& x, const Tensor& c) { return x / c; }},
                    Case{"pow", [](const Tensor& x, const Tensor& c) { return pow(x, c); }},
                    Case{"matmul", [](const Tensor& x, const Tensor& c) { return matmul(x, c); }},
                    Case{"maximum",
                         [](const Tensor& x, const Tensor& c) { return maximum(x, c); }}),
    [](const auto& test) { return test.param.op; });

class ChangedOutput : public testing::TestWithParam<Case> {};

// These save their own result, which is changed here behind the recorder's back.
TEST_P(ChangedOutput, IsAnErrorThatNamesTheOp) {
  const Tensor x = variable({1, 2, 3, 4}, {2, 2});
  const Tensor y = GetParam().fn(x, Tensor());
  y.detach().fill_(1);
  EXPECT_TRUE(throws<std::invalid_argument>([&] { sum(y).backward(); },
                                            {GetParam().op, "changed in place"}));
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ChangedOutput,
    testing::Values(Case{"exp", [](const Tensor& x, const Tensor&) { return exp(x); }},
                    Case{"sqrt", [](const Tensor& x, const Tensor&) { return sqrt(x); }},
                    Case{"tanh", [](const Tensor& x, const Tensor&) { return tanh(x); }},
                    Case{"sigmoid", [](const Tensor& x, const Tensor&) { return sigmoid(x); }},
                    Case{"softmax", [](const Tensor& x, const Tensor&) { return softmax(x, 1); }}),
    [](const auto& test) { return test.param.op; });

// A step of an optimizer between forward and backward: the classic mistake.
TEST(Saved, AStepBeforeBackwardIsCaught) {
  const Tensor w = variable({1, 2});
  const Tensor y = sum(w * w);
  {
    const NoGradGuard no_grad;
    w.copy_(w - 0.1);
  }
  EXPECT_TRUE(throws<std::invalid_argument>([&] { y.backward(); }, {"mul", "changed in place"}));
}

// add saves nothing: changing its input afterwards is no mistake.
TEST(Saved, OpsThatSaveNothingDoNotMind) {
  const Tensor x = variable({1, 2});
  const Tensor c = constant({3, 4});
  const Tensor y = sum(x + c);
  c.fill_(0);
  y.backward();
  EXPECT_TRUE(has_values(x.grad(), {2}, {1, 1}));
}

// softmax needs its output alone, exp too: their input may go.
TEST(Saved, OpsThatSaveTheirOutputDoNotMindTheirInput) {
  const Tensor c = constant({0, 0});
  const Tensor x = c.detach().set_requires_grad(true);
  const Tensor y = softmax(x, 0);
  c.fill_(100);
  EXPECT_TRUE(has_values(grad(y, {x}, constant({1, 0}))[0], {2}, {0.25, -0.25}, 1e-15));
}

// A retained graph is as strict in its second sweep.
TEST(Saved, AChangeBetweenTwoSweepsIsCaught) {
  const Tensor x = variable({1, 2});
  const Tensor c = constant({3, 4});
  const Tensor y = sum(x * c);
  y.backward({}, true);
  c.fill_(0);
  EXPECT_THROW(y.backward(), std::invalid_argument);
  EXPECT_TRUE(has_values(x.grad(), {2}, {3, 4}));
}

}  // namespace
}  // namespace lookback
