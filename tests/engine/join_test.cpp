// cat and stack: values, gradients, sizes 0, and errors.
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

std::vector<OpCase> cases() {
  struct Joined {
    std::string name;
    std::vector<Shape> shapes;
    int64_t dim;
  };
  std::vector<OpCase> cases;
  for (const auto& [name, shapes, dim] :
       {Joined{"rows", {{2, 3}, {1, 3}}, 0}, Joined{"columns", {{2, 3}, {2, 1}, {2, 2}}, 1},
        Joined{"last", {{2, 2, 3}, {2, 2, 1}}, -1}, Joined{"one_part", {{2, 3}}, 0},
        Joined{"empty_part", {{2, 3}, {0, 3}, {1, 3}}, 0}, Joined{"nothing", {{0, 3}, {0, 3}}, 1},
        Joined{"vectors", {{1}, {4}}, 0}}) {
    cases.push_back(
        {"cat_" + name, [dim = dim](const auto& x) { return cat(x, dim); }, inputs_of(shapes)});
  }
  for (const auto& [name, shapes, dim] :
       {Joined{"front", {{2, 3}, {2, 3}, {2, 3}}, 0}, Joined{"middle", {{2, 3}, {2, 3}}, 1},
        Joined{"end", {{2, 3}, {2, 3}}, -1}, Joined{"scalars", {{}, {}, {}}, 0},
        Joined{"one_part", {{2}}, 0}}) {
    cases.push_back(
        {"stack_" + name, [dim = dim](const auto& x) { return stack(x, dim); }, inputs_of(shapes)});
  }
  cases.push_back({"cat_same_tensor_twice",
                   [](const auto& x) {
                     return cat({x[0], x[0] * 2.0, x[0]}, 1);
                   },
                   inputs_of({{2, 3}})});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Join, OpTest, testing::ValuesIn(cases()), case_name);

Tensor row(const std::vector<double>& values) {
  return from_vector(values, {1, static_cast<int64_t>(values.size())});
}

TEST(Join, CatValues) {
  EXPECT_TRUE(has_values(cat({row({1, 2}), row({3, 4})}), {2, 2}, {1, 2, 3, 4}));
  EXPECT_TRUE(has_values(cat({row({1, 2}), row({3})}, 1), {1, 3}, {1, 2, 3}));
  EXPECT_TRUE(has_values(cat({row({1, 2}), row({3})}, -1), {1, 3}, {1, 2, 3}));
}

TEST(Join, StackValues) {
  const Tensor a = from_vector<double>({1, 2}, {2});
  const Tensor b = from_vector<double>({3, 4}, {2});
  EXPECT_TRUE(has_values(stack({a, b}), {2, 2}, {1, 2, 3, 4}));
  EXPECT_TRUE(has_values(stack({a, b}, 1), {2, 2}, {1, 3, 2, 4}));
  EXPECT_TRUE(has_values(stack({a, b}, -1), {2, 2}, {1, 3, 2, 4}));
}

TEST(Join, GradientsAreTheSlices) {
  const Tensor a = row({1, 2}).set_requires_grad(true);
  const Tensor b = row({3}).set_requires_grad(true);
  const auto gradients = grad(cat({a, b}, 1), {a, b}, row({10, 20, 30}));
  EXPECT_TRUE(has_values(gradients[0], {1, 2}, {10, 20}));
  EXPECT_TRUE(has_values(gradients[1], {1, 1}, {30}));
}

TEST(Join, APartThatAppearsTwiceGetsBothGradients) {
  const Tensor a = row({1, 2}).set_requires_grad(true);
  const Tensor seed = from_vector<double>({1, 2, 10, 20}, {2, 2});
  EXPECT_TRUE(has_values(grad(cat({a, a}), {a}, seed)[0], {1, 2}, {11, 22}));
}

TEST(Join, CopiesItsParts) {
  const Tensor a = row({1, 2});
  const Tensor y = cat({a, a});
  const Tensor alone = cat({a});
  a.fill_(0);
  EXPECT_TRUE(has_values(y, {2, 2}, {1, 2, 1, 2}));
  EXPECT_TRUE(has_values(alone, {1, 2}, {1, 2}));
}

TEST(Join, AllDtypes) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    const Tensor a = to(row({1, 0}), dtype);
    EXPECT_EQ(cat({a, a}).dtype(), dtype);
    EXPECT_TRUE(has_values(cat({a, a}), {2, 2}, {1, 0, 1, 0}));
    EXPECT_TRUE(has_values(stack({a, a}, 2), {1, 2, 2}, {1, 1, 0, 0}));
  }
}

TEST(Join, UndoesNarrow) {
  const Tensor x = numbers({3, 7, 2});
  for (const int64_t split : {0, 1, 6, 7}) {
    const Tensor joined = cat({narrow(x, 1, 0, split), narrow(x, 1, split, 7 - split)}, 1);
    EXPECT_TRUE(same_bits(joined, x)) << split;
  }
}

TEST(Join, RefusesNothing) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { cat({}); }, {"[cat] needs at least one tensor"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { stack({}); }, {"[stack]", "at least one"}));
}

TEST(Join, RefusesShapesThatDoNotFit) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cat({ones({2, 3}), ones({2, 4})});
      },
      {"[cat]", "dimension 0", "[2, 3]", "[2, 4]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cat({ones({2, 3}), ones({2})}, 1);
      },
      {"[cat]", "[2, 3]", "[2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        stack({ones({2, 3}), ones({3, 2})});
      },
      {"[stack]", "[2, 3]", "[3, 2]"}));
}

TEST(Join, RefusesOtherDtypes) {
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        cat({ones({2}), ones({2}, DType::f64)});
      },
      {"[cat]", "f32", "f64"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        stack({ones({2}), arange(2)});
      },
      {"dtypes must match", "f32", "i64"}));
}

TEST(Join, RefusesDimensionsOutOfRange) {
  EXPECT_TRUE(throws<std::out_of_range>([] { cat({ones({2, 3})}, 2); }, {"[cat]", "dimension 2"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { cat({ones({})}); }, {"[cat]", "dimension 0"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { stack({ones({2})}, 3); }, {"3"}));
}

}  // namespace
}  // namespace lookback::test
