// The rule that names families, on matrices whose family is known.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "attention/masks.h"
#include "engine/ops.h"
#include "tests/tools/program_support.h"
#include "tests/tools/sections_support.h"
#include "tools/commands/families.h"
#include "tools/commands/sections.h"
#include "tools/commands/untrained.h"

namespace lookback::tools {
namespace {

// softmax of the scores of query i and key j, masked.
Tensor from_scores(int64_t T, const std::function<double(int64_t, int64_t)>& score) {
  std::vector<double> values;
  for (int64_t i = 0; i < T; ++i) {
    for (int64_t j = 0; j < T; ++j) values.push_back(score(i, j));
  }
  const Tensor never = full({}, -std::numeric_limits<double>::infinity(), DType::f64);
  return softmax(where(attention::causal_mask(T, T), from_vector(values, {T, T}), never), -1);
}

TEST(Families, OfKnownMatricesAreNamed) {
  for (const int64_t T : {16, 32, 64, 200}) {
    SCOPED_TRACE(T);
    const auto name = [T](const std::function<double(int64_t, int64_t)>& score) {
      return family_of(from_scores(T, score)).name;
    };
    EXPECT_EQ(family_of(uniform_weights(T)).name, "near-uniform");
    EXPECT_EQ(name([](int64_t i, int64_t j) { return i == j ? 9.0 : 0.0; }), "diagonal-hugging");
    EXPECT_EQ(name([](int64_t i, int64_t j) { return -0.5 * static_cast<double>(i - j); }),
              "diagonal-hugging");
    EXPECT_EQ(name([](int64_t, int64_t j) { return j == 0 ? 9.0 : 0.0; }), "column-collapse");
    EXPECT_EQ(name([](int64_t, int64_t j) { return j == 5 ? 9.0 : 0.0; }), "column-collapse");
    // Every second query has a key of its own choice that all of those share.
    EXPECT_EQ(name([](int64_t i, int64_t j) { return j == (i % 2 == 0 ? 1 : 4) ? 9.0 : 0.0; }),
              "column-collapse");
    EXPECT_EQ(name([](int64_t i, int64_t j) { return static_cast<double>((i * j * j) % 7) / 7; }),
              "near-uniform");
  }
}

TEST(Families, AgreementIsOneForOneColumnAndZeroForTheUniformMatrix) {
  const auto column = [](int64_t, int64_t j) { return j == 0 ? 99.0 : 0.0; };
  EXPECT_NEAR(family_of(from_scores(20, column)).agreement, 1, 1e-9);
  EXPECT_NEAR(family_of(uniform_weights(20)).agreement, 0, 1e-6);
  EXPECT_NEAR(family_of(from_scores(20, column)).spread, 0, 1e-9);
  EXPECT_NEAR(family_of(uniform_weights(20)).spread, 1, 1e-5);
}

// Rows that know nothing of each other have no family of place, however sharp they are. The rule
// may err in 1 of 100 cases for each of two families.
TEST(Families, IndependentRowsAreTakenForNeitherColumnsNorDiagonals) {
  for (const int64_t T : {8, 32, 64}) {
    for (const double sharpness : {1.0, 2.0, 4.0, 1e6}) {
      Generator generator(static_cast<uint64_t>(T));
      int64_t wrong = 0;
      for (int n = 0; n < 300; ++n) {
        const std::string name = family_of(from_scores(T, [&](int64_t, int64_t) {
                                   return sharpness * generator.next_normal();
                                 })).name;
        wrong += name == "near-uniform" || name == "none of these" ? 0 : 1;
      }
      EXPECT_LE(wrong, T < 32 ? 6 : 1) << T << ' ' << sharpness;
    }
  }
}

TEST(Atlas, CountsAllHeadsOfTheLargestSeed) {
  const Section last = atlas_section(prompt("to be or"), UINT64_MAX, "");
  EXPECT_EQ(quantity(last, "W_q and W_k independent, d_k 1, heads"), 60);
  const Table& census = last.tables.at(1);
  for (const auto& row : census.rows) {
    int64_t matrices = 0;
    for (const char* family :
         {"near-uniform", "column-collapse", "diagonal-hugging", "none of these"}) {
      matrices += std::stoll(row[column(census, family)]);
    }
    EXPECT_EQ(std::to_string(matrices), row[column(census, "matrices")]) << row[0];
    EXPECT_GE(matrices, 20) << row[0];
  }
}

TEST(Atlas, HelpSaysHowManyTokensItTakes) {
  EXPECT_NE(run_program({"atlas", "--help"}).out.find("at most 32"), std::string::npos);
  EXPECT_NE(run_program({"row", "--help"}).out.find("at most 64"), std::string::npos);
  EXPECT_EQ(atlas_section({}, 1, "").figures.at(0).hover.at(0).row_labels.size(), 32U);
}

}  // namespace
}  // namespace lookback::tools
