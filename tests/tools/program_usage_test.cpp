// Wrong usage, kind by kind: one sentence of our own that names the option and what it was given.
#include <gtest/gtest.h>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

struct Wrong {
  std::vector<std::string> arguments;
  std::string sentence;  // the whole of it
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.sentence; }

class WrongUsage : public testing::TestWithParam<Wrong> {};

TEST_P(WrongUsage, IsOneSentenceThatNamesOptionAndValue) {
  const Result result = run_program(GetParam().arguments);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "lookback: " + GetParam().sentence + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    ValueMissing, WrongUsage,
    testing::Values(
        Wrong{{"scale", "--seed"}, "scale: --seed needs a value, UINT; got none"},
        Wrong{{"scale", "--seed", "1", "--seed"}, "scale: --seed needs a value, UINT; got none"},
        Wrong{{"shapes", "-B"}, "shapes: -B needs a value, INT from 1 to 1024; got none"},
        Wrong{{"heatmap", "--grid"}, "heatmap: --grid needs a value, heads or seeds; got none"},
        Wrong{{"scale", "--out="}, "scale: --out: the value is empty"},
        Wrong{{"prove", "--seed", "--csv"},
              "prove: --seed needs a value, UINT; got the option --csv"},
        Wrong{{"scale", "--out", "--json", "a.json"},
              "scale: --out needs a value, FILE; got the option --json"},
        Wrong{{"scale", "--csv", "--csv"},
              "scale: --csv needs a value, FILE; got the option --csv"}));

INSTANTIATE_TEST_SUITE_P(
    ValueTooMuch, WrongUsage,
    testing::Values(Wrong{{"shapes", "--quiz=yes"}, "shapes: --quiz takes no value; got 'yes'"},
                    Wrong{{"scale", "--help=yes"}, "scale: --help takes no value; got 'yes'"},
                    Wrong{{"scale", "--seed", "2", "--seed", "3"},
                          "scale: --seed takes one value; got '2' and '3'"},
                    Wrong{{"shapes", "-B", "1", "-B2", "-B", "3"},
                          "shapes: -B takes one value; got '1', '2' and '3'"},
                    Wrong{{"heatmap", "--prompt", "a\nb", "--prompt", "c", "--out", "no/a.png"},
                          "heatmap: --prompt takes one value; got 'a↵b' and 'c'"}));

INSTANTIATE_TEST_SUITE_P(
    TwoOptions, WrongUsage,
    testing::Values(Wrong{{"heatmap", "--text", "y", "--prompt", "x", "--out", "no/a.png"},
                          "heatmap: --text 'y' and --prompt 'x' cannot go together"},
                    Wrong{{"heatmap", "--row", "1", "--grid", "heads", "--out", "no/a.png"},
                          "heatmap: --grid 'heads' and --row '1' cannot go together"},
                    Wrong{{"shapes", "--quiz", "--csv", "no/a.csv"},
                          "shapes: --quiz and --csv 'no/a.csv' cannot go together"},
                    Wrong{{"heatmap", "--count", "3", "--out", "no/a.png"},
                          "heatmap: --count '3' means nothing without --grid"}));

INSTANTIATE_TEST_SUITE_P(
    Missing, WrongUsage,
    testing::Values(Wrong{{}, "a command is required; see lookback --help"},
                    Wrong{{"--"}, "there is no use for '--'; see lookback --help"},
                    Wrong{{"heatmap"},
                          "heatmap: --out FILE is required; see lookback heatmap --help"}));

INSTANTIATE_TEST_SUITE_P(
    Unknown, WrongUsage,
    testing::Values(
        Wrong{{""}, "there is no command ''; see lookback --help"},
        Wrong{{"heetmap"}, "there is no command 'heetmap'; see lookback --help"},
        Wrong{{"--version"}, "there is no option '--version'; see lookback --help"},
        Wrong{{"--nope", "scale"}, "there is no option '--nope'; see lookback --help"},
        Wrong{{"heatmap", "--nope=1"},
              "heatmap: there is no option '--nope=1'; see lookback heatmap --help"},
        Wrong{{"scale", "-s", "3"}, "scale: there is no option '-s'; see lookback scale --help"},
        Wrong{{"scale", "prove"}, "scale: there is no use for 'prove'; see lookback scale --help"},
        Wrong{{"scale", ""}, "scale: there is no use for ''; see lookback scale --help"},
        Wrong{{"scale", "--", "--seed"},
              "scale: there is no use for '--seed'; see lookback scale --help"}));

INSTANTIATE_TEST_SUITE_P(
    BadValue, WrongUsage,
    testing::Values(Wrong{{"cost", "--max", "1.5"},
                          "cost: --max: '1.5' is not a whole number from 1024 to 32768"},
                    Wrong{{"heatmap", "--grid", "rows", "--out", "no/a.png"},
                          "heatmap: --grid: 'rows' is not heads or seeds"},
                    Wrong{{"shapes", "-D", "10", "-H", "3"},
                          "shapes: -H must divide -D; got 3 and 10"}));

}  // namespace
}  // namespace lookback::tools
