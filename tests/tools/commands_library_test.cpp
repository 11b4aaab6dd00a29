// What experiments say when the library is not what they show: a wrong edit must not stay silent.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <sstream>

#include "engine/ops.h"
#include "tests/tools/sections_support.h"
#include "tools/commands/heatmap.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/shapes_reader.h"
#include "tools/commands/untrained.h"

namespace lookback::tools {
namespace {

Tensor matrix(const std::vector<float>& values) { return from_vector<float>(values, {2, 2}); }

TEST(Heatmap, RowsThatAreNoDistributionsAreAFailure) {
  EXPECT_EQ(simplex_failure("head 0", matrix({1, 0, 0.25, 0.75})), "");
  EXPECT_EQ(simplex_failure("head 0", matrix({0.5, 0.5, 0.25, 0.75})),
            "head 0: a weight after its query is 0.5 and not 0");
  EXPECT_EQ(simplex_failure("head 0", matrix({1, 0, 0.25, 0.25})),
            "head 0: a row's sum is off 1 by 0.5");
  EXPECT_EQ(simplex_failure("head 0", matrix({1, 0.5, 0.25, 0.25})),
            "head 0: a row's sum is off 1 by 0.5, and a weight after its query is 0.5 and not 0");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(simplex_failure("head 0", matrix({1, 0, nan, 1})), "");
}

TEST(Heatmap, OfOneRowWhatComesAfterItsOwnQueryMustBeZero) {
  const Tensor row = from_vector<float>({0.5, 0.5, 0}, {1, 3});
  EXPECT_EQ(simplex_failure("query 1", row, 1), "");
  EXPECT_NE(simplex_failure("query 0", row, 0), "");
}

TEST(CompareWithLibrary, SaysWithinHowMuchAndFailsBeyondRounding) {
  Section same;
  compare_with_library(same, "the row shown", ones({3}), "Head::weights()", ones({3}) + 1e-6);
  EXPECT_TRUE(same.ok());
  EXPECT_EQ(same.facts.at(0).sentence.rfind("the row shown and Head::weights() agree within ", 0),
            0U);
  for (const double off : {0.25, std::numeric_limits<double>::quiet_NaN()}) {
    Section other;
    compare_with_library(other, "the row shown", ones({3}), "Head::weights()", ones({3}) + off);
    ASSERT_EQ(other.failures.size(), 1U) << off;
    EXPECT_EQ(other.failures[0].rfind("the row shown differs from Head::weights() by ", 0), 0U);
    std::ostringstream err;
    EXPECT_EQ(report_failures(err, other), 1);
  }
}

TEST(CompareWithLibrary, IsDoneWhereASectionShowsWhatTheLibraryComputes) {
  const TextOptions text = prompt("the cat sat");
  EXPECT_LT(quantity(row_section(text, 1, 4, ""), "difference from Head::weights()"), 1e-6);
  EXPECT_LT(quantity(order_section(text, 1, ""), "difference from Head::weights()"), 1e-6);
  EXPECT_LT(quantity(stream_section(text, 1, ""), "difference from Head::forward()"), 1e-6);
  EXPECT_LT(
      quantity(scale_section(1, ""), "difference from scaled_dot_product_attention's weights"),
      1e-6);
}

// The message of the error that f must throw.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  ADD_FAILURE() << "did not throw";
  return "";
}

TEST(ShapesReader, SaysWhatTheTableExpectsWhereTheCodeRecordsAnotherOp) {
  ShapesReader reader("MultiHeadAttention");
  EXPECT_EQ(message_of([&] { reader.next("softmax"); }),
            "SHAPES.md, 'MultiHeadAttention: forward pass', row 1, expects 'transpose', the code "
            "records 'softmax'");
  EXPECT_EQ(message_of([&] { reader.finish(); }),
            "SHAPES.md, 'MultiHeadAttention: forward pass', row 1, expects 'transpose', the code "
            "records nothing more");
}

// Of a section that has none, and is made to say so.
TEST(SectionCommand, WithoutAFigureRefusesTheNamesOfItsFiles) {
  const auto run_bare = [](std::vector<std::string> arguments) {
    CLI::App app;
    std::ostringstream out, err;
    Program program{app, out, err, nullptr, "", {}};
    add_section_command(program, "bare", "Draws nothing", [](const std::string&) {
      Section section;
      section.title = "Nothing drawn";
      return section;
    });
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    try {
      EXPECT_EQ(program.action(), 0);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return out.str();
  };
  EXPECT_EQ(run_bare({"bare"}), "Nothing drawn\n");
  const std::string refusal = "there is no figure to write to --out or --csv";
  EXPECT_EQ(run_bare({"bare", "--out", "no/a.png"}), refusal);
  EXPECT_EQ(run_bare({"bare", "--csv", "no/a.csv"}), refusal);
}

}  // namespace
}  // namespace lookback::tools
