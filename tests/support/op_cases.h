// A table of ops and inputs. Each family's test file fills its own part of the table with
//
//   INSTANTIATE_TEST_SUITE_P(Softmax, OpTest, testing::ValuesIn(cases()), case_name);
//
// and engine/op_properties_test.cpp says what holds for every entry: its derivatives, its results
// on strided inputs, in float32, with only one input a variable. Hand-worked values and the ops'
// own meanings stay in the family's file.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "engine/grad_check.h"
#include "engine/tensor.h"

namespace lookback::test {

struct OpCase {
  std::string name;
  TensorFunction fn;
  std::vector<Tensor> inputs;  // f64: differentiated; i64 and boolean: passed on as they are
};

inline std::ostream& operator<<(std::ostream& out, const OpCase& op_case) {
  return out << op_case.name;
}

inline std::string case_name(const testing::TestParamInfo<OpCase>& info) { return info.param.name; }

// Whatever a test does, afterwards no input has changed and no graph is left.
class OpTest : public testing::TestWithParam<OpCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

 private:
  int64_t nodes_ = 0;
  std::vector<Tensor> before_;
};

// Different f64 numbers in [lo, hi); another seed gives other numbers.
Tensor numbers(const Shape& shape, double lo = -2, double hi = 2, uint64_t seed = 1);

// One tensor of numbers per shape.
std::vector<Tensor> inputs_of(const std::vector<Shape>& shapes, double lo = -2, double hi = 2);

// A tensor of booleans, about half of them true.
Tensor mask(const Shape& shape, uint64_t seed = 1);

// "2x3"; a 0-dimensional shape is "scalar".
std::string shape_name(const Shape& shape);

// The same elements as x in another layout, and the variable behind it: `view` is a view of
// `base`, and not contiguous if it has more than one element.
struct Strided {
  Tensor base;
  Tensor view;
};
// Every other element of a storage twice as large.
Strided stepped(const Tensor& x);
// Dimensions in reverse order in memory.
Strided reversed(const Tensor& x);

}  // namespace lookback::test
