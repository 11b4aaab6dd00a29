// What `influence` says, against a sweep through the head itself.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/tools/sections_support.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"

namespace lookback::tools {
namespace {

const char* const kText = "the cat sat on the mat";

// Norms of d out_i / d x_j: one sweep through the whole head for each number of out_i.
std::vector<double> swept_norms(const UntrainedHead& model, int64_t i) {
  const Tensor x = model.x.detach().set_requires_grad(true);
  const Tensor out = select(model.head->forward(x), 0, i);
  Tensor squares = zeros({x.size(0)}, DType::f64);
  for (int64_t c = 0; c < out.numel(); ++c) {
    const Tensor dx = to(grad(select(out, 0, c), {x}, {}, {.retain_graph = true})[0], DType::f64);
    squares = squares + sum(dx * dx, 1);
  }
  return to_doubles(sqrt(squares));
}

TEST(Influence, IsWhatASweepThroughTheHeadGives) {
  const Table numbers = influence_section(prompt(kText), 1, "").figures.at(0).numbers;
  const UntrainedHead model = untrained_head(load_text(prompt(kText)), 1);
  for (const int64_t i : {0, 1, 7, 21}) {
    const std::vector<double> swept = swept_norms(model, i);
    const std::vector<double> told = panel_row(numbers, "norm of d out_i / d x_j", i);
    ASSERT_EQ(told.size(), swept.size());
    for (size_t j = 0; j < swept.size(); ++j) {
      EXPECT_NEAR(told[j], swept[j], 1e-5 * swept[j]) << i << ' ' << j;
    }
  }
}

TEST(Influence, ThroughValuesAloneIsAttentionTimesAConstant) {
  const Table numbers = influence_section(prompt(kText), 2, "").figures.at(0).numbers;
  const UntrainedHead model = untrained_head(load_text(prompt(kText)), 2);
  const Tensor W = to(model.head->value.weight.detach(), DType::f64);
  const double constant = std::sqrt(sum(W * W).item<double>());
  const std::vector<double> attention = panel_row(numbers, "attention", 9);
  const std::vector<double> value = panel_row(numbers, "norm through its value", 9);
  for (size_t j = 0; j < attention.size(); ++j) {
    EXPECT_NEAR(value[j], attention[j] * constant, 1e-6) << j;
  }
}

// The words that a reader takes home, recomputed from the numbers that are written.
TEST(Influence, SaysWhereItIsApartFromAttention) {
  const Section section = influence_section(prompt(kText), 1, "");
  double diagonal = 0, below = 0;
  int64_t agree = 0;
  for (int64_t i = 1; i < 22; ++i) {
    const Table& numbers = section.figures.at(0).numbers;
    const std::vector<double> a = panel_row(numbers, "attention", i);
    const std::vector<double> s = panel_row(numbers, "influence, as a share of its row", i);
    for (int64_t j = 0; j <= i; ++j) {
      const auto at = static_cast<size_t>(j);
      (j == i ? diagonal : below) += std::abs(a[at] - s[at]);
    }
    const auto top = [i](const std::vector<double>& row) {
      return std::max_element(row.begin(), row.begin() + i) - row.begin();
    };
    agree += i > 1 && top(a) == top(s) ? 1 : 0;
  }
  EXPECT_NEAR(quantity(section, "mean difference on the diagonal"), diagonal / 21, 1e-9);
  EXPECT_NEAR(quantity(section, "mean difference below the diagonal"), below / (21 * 22 / 2.0),
              1e-9);
  EXPECT_EQ(quantity(section, "rows that agree below the diagonal"), agree);
  EXPECT_EQ(quantity(section, "rows with a choice below the diagonal"), 20);
  // The cause: with the query held fixed the diagonal stands out no longer.
  EXPECT_LT(quantity(section, "mean difference on the diagonal, query held fixed"),
            0.5 * quantity(section, "mean difference on the diagonal"));
}

TEST(Influence, OfOneTokenIsDrawn) {
  const Section one = influence_section(prompt("x"), 1, "");
  EXPECT_TRUE(one.ok());
  EXPECT_EQ(panel_row(one.figures.at(0).numbers, "attention", 0), std::vector<double>{1});
}

}  // namespace
}  // namespace lookback::tools
