// embedding, gather, index_select: values, repeated indices, indices out of range, and errors.
#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/op_cases.h"

namespace lookback::test {
namespace {

Tensor i64(const std::vector<int64_t>& values, const Shape& shape) {
  return from_vector(values, shape);
}

std::vector<OpCase> cases() {
  const auto embed = [](const auto& x) { return embedding(x[0], x[1]); };
  const auto gather_along = [](int64_t dim) {
    return [dim](const std::vector<Tensor>& x) { return gather(x[0], dim, x[1]); };
  };
  const auto select_along = [](int64_t dim) {
    return [dim](const std::vector<Tensor>& x) { return index_select(x[0], dim, x[1]); };
  };
  return {
      {"embedding_vector", embed, {numbers({4, 3}), i64({3, 0, 3, 1}, {4})}},
      {"embedding_matrix", embed, {numbers({4, 3}), i64({2, 2, 2, 0, 1, 3}, {2, 3})}},
      {"embedding_scalar", embed, {numbers({4, 3}), i64({2}, {})}},
      {"embedding_no_index", embed, {numbers({4, 3}), i64({}, {0})}},
      {"embedding_width_1", embed, {numbers({2, 1}), i64({1, 1}, {2})}},
      {"embedding_width_0", embed, {numbers({2, 0}), i64({1, 1}, {2})}},
      {"gather_last", gather_along(1), {numbers({2, 4}), i64({3, 0, 0, 1, 1, 1}, {2, 3})}},
      {"gather_first", gather_along(0), {numbers({3, 2}), i64({2, 0, 1, 1}, {2, 2})}},
      {"gather_negative_dim", gather_along(-2), {numbers({3, 2}), i64({2, 1}, {1, 2})}},
      {"gather_fewer_rows", gather_along(1), {numbers({3, 4}), i64({3, 3}, {2, 1})}},
      {"gather_middle",
       gather_along(1),
       {numbers({2, 3, 2}), i64({2, 0, 1, 1, 0, 0, 2, 2}, {2, 2, 2})}},
      {"gather_fewer_in_two_dims", gather_along(2), {numbers({2, 3, 4}), i64({3, 1}, {1, 2, 1})}},
      {"gather_nothing", gather_along(1), {numbers({2, 4}), i64({}, {2, 0})}},
      {"index_select_first", select_along(0), {numbers({4, 3}), i64({3, 0, 3}, {3})}},
      {"index_select_last", select_along(-1), {numbers({2, 3}), i64({2, 2, 0, 1}, {4})}},
      {"index_select_middle", select_along(1), {numbers({2, 3, 4}), i64({1, 2, 1}, {3})}},
      {"index_select_vector", select_along(0), {numbers({5}), i64({4, 0}, {2})}},
      {"index_select_nothing", select_along(1), {numbers({2, 3}), i64({}, {0})}},
  };
}

INSTANTIATE_TEST_SUITE_P(Index, OpTest, testing::ValuesIn(cases()), case_name);

Tensor table() { return from_vector<double>({1, 2, 3, 4, 5, 6}, {3, 2}); }

// --- Values by hand -----------------------------------------------------------------------------

TEST(Index, Values) {
  const Tensor x = table();
  EXPECT_TRUE(has_values(embedding(x, i64({2, 0}, {2})), {2, 2}, {5, 6, 1, 2}));
  EXPECT_TRUE(has_values(embedding(x, i64({1, 1}, {2, 1})), {2, 1, 2}, {3, 4, 3, 4}));
  EXPECT_TRUE(has_values(gather(x, 1, i64({1, 0, 0}, {3, 1})), {3, 1}, {2, 3, 5}));
  EXPECT_TRUE(has_values(gather(x, 0, i64({2, 0}, {1, 2})), {1, 2}, {5, 2}));
  EXPECT_TRUE(has_values(index_select(x, 0, i64({2, 2}, {2})), {2, 2}, {5, 6, 5, 6}));
  EXPECT_TRUE(has_values(index_select(x, 1, i64({1}, {1})), {3, 1}, {2, 4, 6}));
}

TEST(Index, RowsThatAreUsedTwiceGetBothGradients) {
  const Tensor x = table().set_requires_grad(true);
  const Tensor seed = from_vector<double>({1, 10, 2, 20, 4, 40}, {3, 2});
  EXPECT_TRUE(has_values(grad(embedding(x, i64({2, 0, 2}, {3})), {x}, seed)[0], {3, 2},
                         {2, 20, 0, 0, 5, 50}));
  EXPECT_TRUE(has_values(grad(index_select(x, 0, i64({2, 0, 2}, {3})), {x}, seed)[0], {3, 2},
                         {2, 20, 0, 0, 5, 50}));
  EXPECT_TRUE(has_values(grad(gather(x, 0, i64({2, 0, 2, 0, 0, 1}, {3, 2})), {x}, seed)[0], {3, 2},
                         {4, 30, 0, 40, 3, 0}));
}

TEST(Index, UnusedRowsHaveGradientExactlyZero) {
  const Tensor x = table().set_requires_grad(true);
  const Tensor dx = grad(sum(embedding(x, i64({1}, {1}))), {x})[0];
  EXPECT_TRUE(all_zero(select(dx, 0, 0)));
  EXPECT_TRUE(all_zero(select(dx, 0, 2)));
}

TEST(Index, AllDtypes) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
    const Tensor x = to(from_vector<double>({1, 0, 0, 1}, {2, 2}), dtype);
    EXPECT_TRUE(has_values(embedding(x, i64({1}, {1})), {1, 2}, {0, 1}));
    EXPECT_TRUE(has_values(gather(x, 1, i64({1, 1}, {2, 1})), {2, 1}, {0, 1}));
    EXPECT_TRUE(has_values(index_select(x, 1, i64({1}, {1})), {2, 1}, {0, 1}));
    EXPECT_EQ(gather(x, 1, i64({1, 1}, {2, 1})).dtype(), dtype);
  }
}

TEST(Index, ReadsIndicesThatAreViews) {
  const Tensor index = transpose(i64({0, 1, 2, 2, 1, 0}, {3, 2}), 0, 1);
  EXPECT_TRUE(same_bits(embedding(table(), index), embedding(table(), index.contiguous())));
  const Tensor column = select(i64({2, 0, 1, 0}, {2, 2}), 1, 0);
  EXPECT_TRUE(
      same_bits(index_select(table(), 0, column), index_select(table(), 0, column.contiguous())));
}

TEST(Index, AChangedIndexDoesNotChangeTheGradientSilently) {
  const Tensor x = table().set_requires_grad(true);
  const Tensor index = i64({1}, {1});
  const Tensor y = sum(embedding(x, index));
  index.fill_(0);
  EXPECT_TRUE(
      throws<std::invalid_argument>([&] { y.backward(); }, {"embedding", "changed in place"}));
}

// --- Indices out of range -----------------------------------------------------------------------

TEST(Index, EmbeddingNamesTheIndexAndTheTableSize) {
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        embedding(table(), i64({0, 3}, {2}));
      },
      {"[embedding] index 3 is out of range for a table of 3 rows"}));
  EXPECT_TRUE(
      throws<std::out_of_range>([] { embedding(table(), i64({-1}, {1})); },
                                {"[embedding] index -1 is out of range for a table of 3 rows"}));
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        embedding(ones({0, 2}), i64({0}, {1}));
      },
      {"index 0", "table of 0 rows"}));
}

TEST(Index, GatherAndIndexSelectNameTheIndexAndTheSize) {
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        gather(table(), 1, i64({2}, {1, 1}));
      },
      {"[gather]", "index 2", "size 2"}));
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        gather(table(), 0, i64({-1}, {1, 1}));
      },
      {"[gather]", "index -1", "size 3"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { index_select(table(), 0, i64({3}, {1})); },
                                        {"[index_select]", "index 3", "size 3"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { index_select(table(), 1, i64({-1}, {1})); },
                                        {"[index_select]", "index -1", "size 2"}));
}

TEST(Index, ABadIndexIsFoundBeforeAnythingIsMade) {
  const int64_t requests = allocator_statistics().requests;
  const Tensor weight = table();
  const Tensor index = i64({0, 1, 2, 99}, {4});
  const int64_t before = allocator_statistics().requests;
  EXPECT_EQ(before, requests + 2);
  EXPECT_TRUE(throws<std::out_of_range>([&] { embedding(weight, index); }, {"99"}));
  EXPECT_EQ(allocator_statistics().requests, before);
}

// --- Errors -------------------------------------------------------------------------------------

TEST(Index, RefusesIndicesThatAreNotIntegers) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { embedding(table(), ones({2})); },
                                            {"[embedding]", "i64", "f32"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        gather(table(), 0, ones({1, 2}));
      },
      {"[gather]", "i64", "f32"}));
  EXPECT_TRUE(
      throws<std::invalid_argument>([] { index_select(table(), 0, ones({1}, DType::boolean)); },
                                    {"[index_select]", "i64", "boolean"}));
}

TEST(Index, RefusesShapesThatDoNotFit) {
  EXPECT_TRUE(throws<std::invalid_argument>([] { embedding(ones({3}), i64({0}, {1})); },
                                            {"[embedding]", "[3]"}));
  EXPECT_TRUE(throws<std::invalid_argument>([] { gather(table(), 0, i64({0}, {1})); },
                                            {"[gather]", "[1]", "[3, 2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        gather(table(), 0, i64({0, 0, 0}, {1, 3}));
      },
      {"[gather]", "dimension 0", "[1, 3]", "[3, 2]"}));
  EXPECT_TRUE(throws<std::invalid_argument>(
      [] {
        index_select(table(), 0, i64({0}, {1, 1}));
      },
      {"[index_select]", "[1, 1]"}));
}

TEST(Index, RefusesDimensionsOutOfRange) {
  EXPECT_TRUE(throws<std::out_of_range>(
      [] {
        gather(table(), 2, i64({0}, {1, 1}));
      },
      {"[gather]", "dimension 2"}));
  EXPECT_TRUE(throws<std::out_of_range>([] { index_select(table(), -3, i64({0}, {1})); },
                                        {"[index_select]", "dimension -3"}));
}

}  // namespace
}  // namespace lookback::test
