// Parity: the values and gradients of every op equal those of PyTorch 1.13 (tests/data/ops.txt,
// made by make_golden_ops.py beside it). Only here is the meaning of an op taken from elsewhere.
#include "tests/support/golden.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "engine/backward.h"
#include "engine/grad_check.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Inputs = std::vector<Tensor>;
using Table = std::map<std::string, TensorFunction>;

TensorFunction of_one(Tensor (*op)(const Tensor&)) {
  return [op](const Inputs& x) { return op(x[0]); };
}

TensorFunction of_two(Tensor (*op)(const Tensor&, const Tensor&)) {
  return [op](const Inputs& x) { return op(x[0], x[1]); };
}

TensorFunction along(Tensor (*op)(const Tensor&, int64_t), int64_t dim) {
  return [op, dim](const Inputs& x) { return op(x[0], dim); };
}

TensorFunction reduced(Tensor (*op)(const Tensor&, const Dims&, bool), const Dims& dims,
                       bool keepdim = false) {
  return [op, dims, keepdim](const Inputs& x) { return op(x[0], dims, keepdim); };
}

// The op behind each case "op" or "op/variant".
Table elementwise() {
  return {
      {"add", of_two(add)},
      {"add_number", [](const Inputs& x) { return x[0] + 1.5; }},
      {"sub", of_two(sub)},
      {"sub_from_number", [](const Inputs& x) { return 1.5 - x[0]; }},
      {"mul", of_two(mul)},
      {"mul_number", [](const Inputs& x) { return x[0] * -2.5; }},
      {"div", of_two(div)},
      {"number_div", [](const Inputs& x) { return 2.0 / x[0]; }},
      {"neg", of_one(neg)},
      {"pow_3", [](const Inputs& x) { return pow(x[0], 3); }},
      {"pow_minus_half", [](const Inputs& x) { return pow(x[0], -0.5); }},
      {"pow_2", [](const Inputs& x) { return pow(x[0], 2); }},
      {"pow", of_two(pow)},
      {"maximum", of_two(maximum)},
      {"minimum", of_two(minimum)},
      {"exp", of_one(exp)},
      {"log", of_one(log)},
      {"sqrt", of_one(sqrt)},
      {"tanh", of_one(tanh)},
      {"sigmoid", of_one(sigmoid)},
      {"relu", of_one(relu)},
      {"gelu", of_one(gelu)},
      {"abs", of_one(abs)},
      {"where", [](const Inputs& x) { return where(x[0], x[1], x[2]); }},
      {"masked_fill", [](const Inputs& x) { return masked_fill(x[0], x[1], -7); }},
      {"masked_softmax",
       [](const Inputs& x) { return softmax(masked_fill(x[0], x[1], -kInfinity), -1); }},
      {"eq", of_two(eq)},
      {"ne", of_two(ne)},
      {"lt", of_two(lt)},
      {"le", of_two(le)},
      {"gt", of_two(gt)},
      {"ge", of_two(ge)},
      {"logical_and", of_two(logical_and)},
      {"logical_or", of_two(logical_or)},
      {"logical_not", of_one(logical_not)},
  };
}

Table reductions() {
  return {
      {"sum", reduced(sum, {})},
      {"sum_first", reduced(sum, 0)},
      {"sum_outer_keepdim", reduced(sum, {0, 2}, true)},
      {"mean", reduced(mean, {})},
      {"mean_first", reduced(mean, 0)},
      {"mean_outer_keepdim", reduced(mean, {0, 2}, true)},
      {"var_last", [](const Inputs& x) { return var(x[0], -1); }},
      {"var_biased_first", [](const Inputs& x) { return var(x[0], 0, true, 0); }},
      {"max", reduced(max, {})},
      {"max_last", reduced(max, -1)},
      {"max_outer_keepdim", reduced(max, {0, 2}, true)},
      {"min_first", reduced(min, 0)},
      {"argmax_last", [](const Inputs& x) { return argmax(x[0], -1); }},
      {"argmax", [](const Inputs& x) { return argmax(x[0]); }},
      {"tril", [](const Inputs& x) { return tril(x[0]); }},
      {"tril_minus_1", [](const Inputs& x) { return tril(x[0], -1); }},
      {"softmax_last", along(softmax, -1)},
      {"softmax_middle", along(softmax, 1)},
      {"log_softmax_last", along(log_softmax, -1)},
      {"log_softmax_middle", along(log_softmax, 1)},
      {"logsumexp_last", [](const Inputs& x) { return logsumexp(x[0], -1); }},
      {"logsumexp_middle", [](const Inputs& x) { return logsumexp(x[0], 1); }},
      {"cross_entropy", of_two(cross_entropy)},
      {"layer_norm", [](const Inputs& x) { return layer_norm(x[0]); }},
      {"layer_norm_weight", [](const Inputs& x) { return layer_norm(x[0], x[1]); }},
      {"layer_norm_both", [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); }},
  };
}

Table products_and_views() {
  return {
      {"matmul", of_two(matmul)},
      {"matmul_transposed", [](const Inputs& x) { return matmul(x[0], transpose(x[1], -2, -1)); }},
      {"transpose", [](const Inputs& x) { return transpose(x[0], 0, -1); }},
      {"permute",
       [](const Inputs& x) {
         return permute(x[0], {2, 0, 1});
       }},
      {"reshape",
       [](const Inputs& x) {
         return reshape(transpose(x[0], 0, 1), {2, 6});
       }},
      {"unsqueeze", along(unsqueeze, 1)},
      {"squeeze_1", along(squeeze, 1)},
      {"squeeze", of_one(squeeze)},
      {"expand",
       [](const Inputs& x) {
         return expand(x[0], {2, -1, 3});
       }},
      {"narrow", [](const Inputs& x) { return narrow(x[0], 1, 1, 2); }},
      {"select", [](const Inputs& x) { return select(x[0], -1, -2); }},
      {"cat_last", [](const Inputs& x) { return cat(x, -1); }},
      {"cat_first", [](const Inputs& x) { return cat(x, 0); }},
      {"stack_1", [](const Inputs& x) { return stack(x, 1); }},
      {"embedding", of_two(embedding)},
      {"gather_last", [](const Inputs& x) { return gather(x[0], 1, x[1]); }},
      {"gather_first", [](const Inputs& x) { return gather(x[0], 0, x[1]); }},
      {"index_select_1", [](const Inputs& x) { return index_select(x[0], 1, x[1]); }},
  };
}

Table all_ops() {
  Table ops = elementwise();
  ops.merge(reductions());
  ops.merge(products_and_views());
  return ops;
}

const Golden& golden() {
  static const Golden file("tests/data/ops.txt");
  return file;
}

// The cases of the file: whatever has a result.
std::vector<std::string> cases() {
  std::vector<std::string> cases;
  for (const std::string& name : golden().names()) {
    const size_t end = name.find('.');
    if (name.substr(end) == ".out") cases.push_back(name.substr(0, end));
  }
  return cases;
}

std::string op_of(const std::string& name) { return name.substr(0, name.find('/')); }

// Input number n of a case, and its key, whose letter tells the dtype: x floats, i integers, b
// booleans. Undefined after the last one.
std::pair<Tensor, std::string> input(const std::string& name, size_t n, DType floats) {
  for (const auto& [letter, dtype] :
       {std::pair{"x", floats}, {"i", DType::i64}, {"b", DType::boolean}}) {
    const std::string key = letter + std::to_string(n);
    if (golden().has(name + "." + key)) return {golden().get(name + "." + key, dtype), key};
  }
  return {};
}

class OpParity : public testing::TestWithParam<std::string> {};

// Runs the op in this precision and compares the value and every gradient.
void check_parity(const std::string& name, DType dtype, double tolerance) {
  const Table ops = all_ops();
  const auto op = ops.find(op_of(name));
  ASSERT_NE(op, ops.end()) << "no op for " << name;
  const bool differentiable = golden().has(name + ".seed");
  Inputs inputs;
  Inputs variables;
  Inputs expected;
  for (auto [x, key] = input(name, 0, dtype); x.defined();
       std::tie(x, key) = input(name, inputs.size(), dtype)) {
    inputs.push_back(x);
    if (!differentiable || key[0] != 'x') continue;
    variables.push_back(x.set_requires_grad(true));
    expected.push_back(golden().get(name + ".d." + key));
  }
  const Tensor y = op->second(inputs);
  EXPECT_TRUE(all_close(to(y.detach(), DType::f64), golden().get(name + ".out"), tolerance));
  if (!differentiable) return;
  const Inputs gradients = grad(y, variables, golden().get(name + ".seed", dtype));
  for (size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_EQ(gradients[i].dtype(), dtype);
    EXPECT_TRUE(all_close(to(gradients[i], DType::f64), expected[i], tolerance))
        << "gradient of variable " << i;
  }
}

TEST_P(OpParity, Float64) { check_parity(GetParam(), DType::f64, 1e-10); }

TEST_P(OpParity, Float32) { check_parity(GetParam(), DType::f32, 1e-5); }

INSTANTIATE_TEST_SUITE_P(PyTorch, OpParity, testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST(GoldenFile, HasACaseForEveryOp) {
  std::set<std::string> seen;
  for (const std::string& name : cases()) seen.insert(op_of(name));
  for (const auto& [name, op] : all_ops()) EXPECT_EQ(seen.count(name), 1U) << name;
}

TEST(GoldenFile, AMissingFileAndAMissingTensorAreNamed) {
  EXPECT_TRUE(throws<std::runtime_error>([] { Golden("tests/data/none.txt"); }, {"none.txt"}));
  EXPECT_TRUE(throws<std::runtime_error>([] { golden().get("none.out"); }, {"none.out"}));
}

}  // namespace
}  // namespace lookback::test
