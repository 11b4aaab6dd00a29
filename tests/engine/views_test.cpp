// Views: values and derivatives of each, that nothing is copied, views of views, and errors.
#include <limits>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

using View = std::function<Tensor(const Tensor&)>;

struct ViewCase {
  std::string name;
  Shape shape;
  View view;
  Shape result;
};

std::vector<ViewCase> views() {
  return {
      {"transpose", {2, 3}, [](const Tensor& x) { return transpose(x, 0, 1); }, {3, 2}},
      {"transpose_negative",
       {2, 3, 4},
       [](const Tensor& x) { return transpose(x, -1, 0); },
       {4, 3, 2}},
      {"transpose_same", {2, 3}, [](const Tensor& x) { return transpose(x, 1, 1); }, {2, 3}},
      {"permute",
       {2, 3, 4},
       [](const Tensor& x) {
         return permute(x, {2, 0, 1});
       },
       {4, 2, 3}},
      {"permute_negative",
       {2, 3, 4},
       [](const Tensor& x) {
         return permute(x, {-2, -1, 0});
       },
       {3, 4, 2}},
      {"permute_scalar", {}, [](const Tensor& x) { return permute(x, {}); }, {}},
      {"reshape",
       {2, 6},
       [](const Tensor& x) {
         return reshape(x, {3, 4});
       },
       {3, 4}},
      {"reshape_open",
       {2, 6},
       [](const Tensor& x) {
         return reshape(x, {4, -1});
       },
       {4, 3}},
      {"reshape_to_scalar", {1, 1}, [](const Tensor& x) { return reshape(x, {}); }, {}},
      {"reshape_from_scalar",
       {},
       [](const Tensor& x) {
         return reshape(x, {1, 1});
       },
       {1, 1}},
      {"reshape_empty",
       {0, 4},
       [](const Tensor& x) {
         return reshape(x, {2, 0, 3});
       },
       {2, 0, 3}},
      {"unsqueeze_front", {2, 3}, [](const Tensor& x) { return unsqueeze(x, 0); }, {1, 2, 3}},
      {"unsqueeze_middle", {2, 3}, [](const Tensor& x) { return unsqueeze(x, 1); }, {2, 1, 3}},
      {"unsqueeze_end", {2, 3}, [](const Tensor& x) { return unsqueeze(x, -1); }, {2, 3, 1}},
      {"unsqueeze_scalar", {}, [](const Tensor& x) { return unsqueeze(x, 0); }, {1}},
      {"squeeze_dim", {2, 1, 3}, [](const Tensor& x) { return squeeze(x, 1); }, {2, 3}},
      {"squeeze_other_dim", {2, 1, 3}, [](const Tensor& x) { return squeeze(x, 0); }, {2, 1, 3}},
      {"squeeze_all", {1, 2, 1, 3, 1}, [](const Tensor& x) { return squeeze(x); }, {2, 3}},
      {"expand",
       {2, 1},
       [](const Tensor& x) {
         return expand(x, {2, 3});
       },
       {2, 3}},
      {"expand_new_dim",
       {2, 1},
       [](const Tensor& x) {
         return expand(x, {4, -1, 3});
       },
       {4, 2, 3}},
      {"expand_scalar",
       {},
       [](const Tensor& x) {
         return expand(x, {2, 2});
       },
       {2, 2}},
      {"expand_to_nothing",
       {1, 3},
       [](const Tensor& x) {
         return expand(x, {0, 3});
       },
       {0, 3}},
      {"narrow_first", {4, 3}, [](const Tensor& x) { return narrow(x, 0, 1, 2); }, {2, 3}},
      {"narrow_last", {2, 5}, [](const Tensor& x) { return narrow(x, -1, 2, 3); }, {2, 3}},
      {"narrow_to_nothing", {2, 5}, [](const Tensor& x) { return narrow(x, 1, 5, 0); }, {2, 0}},
      {"narrow_to_all", {2, 5}, [](const Tensor& x) { return narrow(x, 1, 0, 5); }, {2, 5}},
      {"select_first", {4, 3}, [](const Tensor& x) { return select(x, 0, 2); }, {3}},
      {"select_negative", {4, 3}, [](const Tensor& x) { return select(x, -1, -1); }, {4}},
      {"select_to_scalar", {3}, [](const Tensor& x) { return select(x, 0, 1); }, {}},
      {"heads",
       {2, 3, 8},
       [](const Tensor& x) {
         return transpose(reshape(x, {2, 3, 4, 2}), 1, 2);
       },
       {2, 4, 3, 2}},
      {"view_of_views",
       {3, 4, 5},
       [](const Tensor& x) {
         return select(narrow(permute(narrow(x, 2, 1, 3), {1, 2, 0}), 0, 1, 3), 1, 2);
       },
       {3, 3}},
  };
}

std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const ViewCase& c : views()) {
    cases.push_back(
        {c.name, [view = c.view](const auto& x) { return view(x[0]); }, inputs_of({c.shape})});
  }
  // Not views of their own, but the copies that reshape falls back on.
  cases.push_back({"reshape_of_a_transpose",
                   [](const auto& x) { return reshape(transpose(x[0], 0, 1), {-1}); },
                   inputs_of({{3, 4}})});
  cases.push_back({"reshape_of_an_expand",
                   [](const auto& x) {
                     return reshape(expand(x[0], {2, 3}), {6});
                   },
                   inputs_of({{2, 1}})});
  cases.push_back({"overlapping_views",
                   [](const auto& x) { return narrow(x[0], 0, 0, 3) * narrow(x[0], 0, 1, 3); },
                   inputs_of({{4}})});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Views, OpTest, testing::ValuesIn(cases()), case_name);

// --- Properties of every view -------------------------------------------------------------------

class ViewTest : public testing::TestWithParam<ViewCase> {};

TEST_P(ViewTest, IsZeroCopy) {
  const Tensor x = numbers(GetParam().shape);
  const Tensor y = GetParam().view(x);
  EXPECT_EQ(y.shape(), GetParam().result);
  EXPECT_TRUE(shares_storage(x, y));
}

TEST_P(ViewTest, SeesChangesAndSharesTheVersion) {
  const Tensor x = numbers(GetParam().shape);
  const Tensor y = GetParam().view(x);
  x.fill_(5);
  EXPECT_TRUE(all_close(y, full(GetParam().result, 5, DType::f64), 0));
  EXPECT_EQ(y.version(), x.version());
  y.fill_(6);
  EXPECT_EQ(y.version(), x.version());
  EXPECT_TRUE(all_close(y, full(GetParam().result, 6, DType::f64), 0));
}

TEST_P(ViewTest, WorksForEveryDtype) {
  const Tensor x = to(numbers(GetParam().shape, -9, 9), DType::i64);
  const Tensor expected = GetParam().view(x);
  for (const DType dtype : {DType::f32, DType::f64}) {
    EXPECT_TRUE(same_bits(to(GetParam().view(to(x, dtype)), DType::i64), expected));
  }
  EXPECT_TRUE(same_bits(GetParam().view(x > 0.0), expected > 0.0));
}

INSTANTIATE_TEST_SUITE_P(All, ViewTest, testing::ValuesIn(views()),
                         [](const auto& test) { return test.param.name; });

// --- Values by hand -----------------------------------------------------------------------------

Tensor two_by_three() { return from_vector<double>({1, 2, 3, 4, 5, 6}, {2, 3}); }

TEST(Views, Values) {
  const Tensor x = two_by_three();
  EXPECT_TRUE(has_values(transpose(x, 0, 1), {3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_TRUE(has_values(reshape(x, {3, 2}), {3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(has_values(narrow(x, 1, 1, 2), {2, 2}, {2, 3, 5, 6}));
  EXPECT_TRUE(has_values(select(x, 1, 2), {2}, {3, 6}));
  EXPECT_TRUE(has_values(select(x, 0, -1), {3}, {4, 5, 6}));
  EXPECT_TRUE(has_values(expand(select(x, 0, 0), {2, 3}), {2, 3}, {1, 2, 3, 1, 2, 3}));
  EXPECT_TRUE(has_values(permute(reshape(x, {1, 2, 3}), {2, 1, 0}), {3, 2, 1}, {1, 4, 2, 5, 3, 6}));
}

TEST(Views, GradientsByHand) {
  const Tensor x = two_by_three().set_requires_grad(true);
  const Tensor pair = from_vector<double>({10, 20}, {2});
  EXPECT_TRUE(has_values(grad(select(x, 1, 1), {x}, pair)[0], {2, 3}, {0, 10, 0, 0, 20, 0}));
  EXPECT_TRUE(has_values(grad(narrow(x, 1, 2, 1), {x}, reshape(pair, {2, 1}))[0], {2, 3},
                         {0, 0, 10, 0, 0, 20}));
  EXPECT_TRUE(has_values(grad(transpose(x, 0, 1), {x}, reshape(two_by_three(), {3, 2}))[0], {2, 3},
                         {1, 3, 5, 2, 4, 6}));
  const Tensor row = from_vector<double>({1, 2, 3}, {3}).set_requires_grad(true);
  EXPECT_TRUE(has_values(grad(expand(row, {2, 3}), {row}, two_by_three())[0], {3}, {5, 7, 9}));
}

TEST(Views, PartsOutsideAViewHaveGradientZeroEvenBesideInfinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = two_by_three().set_requires_grad(true);
  const Tensor dx = grad(select(x, 0, 0), {x}, full({3}, infinity, DType::f64))[0];
  EXPECT_TRUE(all_zero(select(dx, 0, 1)));
}

// --- When reshape copies ------------------------------------------------------------------------

TEST(Views, ReshapeOfAContiguousTensorIsAView) {
  const Tensor x = numbers({4, 6});
  for (const Shape& shape :
       {Shape{24}, Shape{2, 12}, Shape{2, 2, 6}, Shape{4, 1, 6}, Shape{8, 3}}) {
    EXPECT_TRUE(shares_storage(reshape(x, shape), x)) << shape;
  }
}

TEST(Views, ReshapeSplitsAndMergesStridedDimensionsWithoutACopy) {
  const Tensor x = transpose(numbers({4, 6}), 0, 1);  // (6, 4), strides 1 and 6
  EXPECT_TRUE(shares_storage(reshape(x, {2, 3, 4}), x));
  EXPECT_TRUE(shares_storage(reshape(x, {6, 2, 2}), x));
  EXPECT_TRUE(same_bits(reshape(x, {2, 3, 4}), reshape(x.contiguous(), {2, 3, 4})));
  const Tensor rows = narrow(numbers({4, 3, 5}), 0, 1, 2);
  EXPECT_TRUE(shares_storage(reshape(rows, {6, 5}), rows));
  const Tensor columns = narrow(numbers({4, 6}), 1, 2, 2);
  EXPECT_TRUE(shares_storage(reshape(columns, {2, 2, 1, 2}), columns));
}

TEST(Views, ReshapeCopiesOnlyWhenItMust) {
  const Tensor x = transpose(numbers({4, 6}), 0, 1);
  EXPECT_FALSE(shares_storage(reshape(x, {24}), x));
  EXPECT_TRUE(same_bits(reshape(x, {24}), reshape(x.contiguous(), {24})));
  const Tensor repeated = expand(numbers({1, 3}), {2, 3});
  EXPECT_FALSE(shares_storage(reshape(repeated, {6}), repeated));
}

TEST(Views, ReshapeToTheSameShapeIsTheSameTensor) {
  const Tensor x = transpose(numbers({4, 6}), 0, 1);
  EXPECT_TRUE(shares_storage(reshape(x, {6, 4}), x));
  EXPECT_TRUE(same_bits(reshape(x, {6, -1}), x));
}

// Every split and merge of the dimensions of several strided layouts, against a copy.
TEST(Views, ReshapeOfAnyLayoutEqualsReshapeOfACopy) {
  const std::vector<Shape> targets = {{24},      {2, 12},   {12, 2},   {4, 6},       {6, 4},
                                      {2, 3, 4}, {4, 3, 2}, {2, 2, 6}, {1, 24, 1},   {3, 8},
                                      {8, 1, 3}, {3, 2, 4}, {2, 4, 3}, {2, 2, 3, 2}, {6, 2, 2}};
  const Tensor base = numbers({2, 3, 4});
  std::vector<Tensor> layouts = {stepped(base).view.detach(),
                                 reversed(base).view.detach(),
                                 permute(base, {1, 0, 2}),
                                 permute(base, {0, 2, 1}),
                                 permute(base, {2, 0, 1}),
                                 expand(numbers({1, 3, 4}), {2, 3, 4}),
                                 expand(numbers({2, 1, 4}), {2, 3, 4}),
                                 unsqueeze(permute(base, {1, 2, 0}), 1)};
  for (const Tensor& x : layouts) {
    for (const Shape& shape : targets) {
      EXPECT_TRUE(same_bits(reshape(x, shape), reshape(x.clone(), shape)))
          << x.shape() << " with strides " << x.strides() << " to " << shape;
    }
  }
}

TEST(Views, ContiguousCopiesOnlyWhenItMust) {
  const Tensor x = numbers({2, 3});
  EXPECT_TRUE(x.contiguous().is_same(x));
  EXPECT_FALSE(shares_storage(transpose(x, 0, 1).contiguous(), x));
  EXPECT_TRUE(transpose(numbers({1, 3}), 0, 1).is_contiguous());
}

}  // namespace
}  // namespace lookback::test
