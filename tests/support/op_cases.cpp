#include "tests/support/op_cases.h"

#include <sstream>

#include "engine/node.h"
#include "engine/ops.h"
#include "engine/random.h"
#include "tests/support/matchers.h"

namespace lookback::test {

void OpTest::SetUp() {
  nodes_ = Node::live_count();
  for (const Tensor& x : GetParam().inputs) before_.push_back(x.clone());
}

void OpTest::TearDown() {
  for (size_t i = 0; i < before_.size(); ++i) {
    EXPECT_TRUE(same_bits(GetParam().inputs[i], before_[i])) << "input " << i << " has changed";
    EXPECT_EQ(GetParam().inputs[i].version(), 0U);
  }
  EXPECT_EQ(Node::live_count(), nodes_) << "a graph was left behind";
}

Tensor numbers(const Shape& shape, double lo, double hi, uint64_t seed) {
  Generator generator(seed);
  return uniform(shape, lo, hi, generator, DType::f64);
}

std::vector<Tensor> inputs_of(const std::vector<Shape>& shapes, double lo, double hi) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : shapes) inputs.push_back(numbers(shape, lo, hi, inputs.size() + 1));
  return inputs;
}

Tensor mask(const Shape& shape, uint64_t seed) { return numbers(shape, -1, 1, seed) > 0.0; }

std::string shape_name(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::ostringstream name;
  for (int64_t d = 0; d < shape.rank(); ++d) name << (d > 0 ? "x" : "") << shape[d];
  return name.str();
}

namespace {

Tensor variable(const Tensor& x) {
  const Tensor base = x.detach().clone();
  return is_floating(x.dtype()) ? base.set_requires_grad(true) : base;
}

Dims reversed_order(int64_t rank) {
  Dims order;
  for (int64_t d = rank - 1; d >= 0; --d) order.push_back(d);
  return order;
}

}  // namespace

Strided stepped(const Tensor& x) {
  const Tensor base = variable(stack({x, x}, -1));
  base.detach().copy_(stack({zeros(x.shape(), x.dtype()), x.detach()}, -1));
  return {base, select(base, -1, 1)};
}

Strided reversed(const Tensor& x) {
  const Dims order = reversed_order(x.dim());
  const Tensor base = variable(permute(x.detach(), order));
  return {base, permute(base, order)};
}

}  // namespace lookback::test
