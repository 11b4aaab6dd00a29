// The softmax microscope: what its curve and its words say of the scale.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tools/sections_support.h"
#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

TEST(Row, TheCurveGoesThroughBothRowsAndEndsWhereSoftmaxIsFlatOrOneHot) {
  for (const uint64_t seed : {1U, 2U, 3U}) {
    const Section row = row_section({}, seed, -1, "");
    const Table& curve = row.data.at(1);
    const size_t norm = 1;
    double at_scale = 0, at_one = 0;
    for (const auto& line : curve.rows) {
      if (std::stod(line[0]) == 0.25) at_scale = std::stod(line[norm]);
      if (std::stod(line[0]) == 1.0) at_one = std::stod(line[norm]);
    }
    EXPECT_NEAR(at_scale, quantity(row, "norm of diag(p) - p p^T, scaled"), 1e-6);
    EXPECT_NEAR(at_one, quantity(row, "norm of diag(p) - p p^T, not scaled"), 1e-6);
    EXPECT_NEAR(std::stod(curve.rows.front()[norm]), std::sqrt(63.0) / 64, 1e-3);
    EXPECT_LT(std::stod(curve.rows.back()[norm]), 1e-6);
    EXPECT_GE(quantity(row, "largest norm"), at_one);
    EXPECT_NEAR(quantity(row, "standard deviation of the scores, scaled") * 4,
                quantity(row, "standard deviation of the scores, not scaled"), 1e-6);
  }
}

TEST(Row, OfOneKeyHasNoPeak) {
  const Section row = row_section(prompt("x"), 1, 0, "");
  EXPECT_EQ(quantity(row, "norm of diag(p) - p p^T, scaled"), 0);
  for (const Fact& fact : row.facts) EXPECT_EQ(fact.sentence.find("largest,"), std::string::npos);
}

TEST(Row, SaysWhichFileHasAllTerms) {
  const Section row = row_section({}, 1, -1, "");
  EXPECT_EQ(row.tables.at(0).title.find("the CSV has all"), std::string::npos);
  EXPECT_EQ(row.figures.at(0).numbers.rows.size(), 64U);
  EXPECT_EQ(row.tables.at(0).rows.size(), 17U);
}

}  // namespace
}  // namespace lookback::tools
