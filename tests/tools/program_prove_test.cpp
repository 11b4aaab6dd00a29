// lookback prove, when a theorem fails: the library cannot show it, a mutant can.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, ProveOfAMutantFailsAndShowsTheSmallestCounterexample) {
  const Result result =
      run_program({"prove", "--mutant", "mask after softmax", "--json", path("p.json")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(
      result.err,
      HasSubstr("theorem 'simplex' fails (mutant: mask after softmax): B 1, T 2, d 1: row sum"));
  const nlohmann::json ledger = nlohmann::json::parse(read("p.json"));
  int64_t failed = 0;
  for (const auto& line : ledger) {
    const bool proved = line["proved"].get<bool>();
    failed += proved ? 0 : 1;
    EXPECT_EQ(line["counterexample"].get<std::string>().empty(), proved) << line;
  }
  EXPECT_EQ(failed, lines(result.err));
  EXPECT_GT(failed, 5);
  EXPECT_LT(failed, static_cast<int64_t>(ledger.size()));
}

TEST_F(ProgramTest, ProveMeasuresEveryLineInItsOwnUnit) {
  ASSERT_EQ(run_program({"prove", "--json", path("p.json"), "--csv", path("p.csv")}).code, 0);
  const nlohmann::json ledger = nlohmann::json::parse(read("p.json"));
  std::set<std::string> units;
  std::set<std::string> paths;
  for (const auto& line : ledger) {
    units.insert(line["unit"].get<std::string>());
    paths.insert(line["path"].get<std::string>());
    EXPECT_EQ(line["unit"] == "bits", line["kind"] == "structural") << line;
    EXPECT_LE(line["residual"].get<double>(), line["tolerance"].get<double>()) << line;
    EXPECT_GT(line["compared"].get<int64_t>(), 0) << line;
  }
  EXPECT_EQ(units, (std::set<std::string>{"bits", "ulp", "absolute", "standard errors"}));
  EXPECT_EQ(paths, (std::set<std::string>{"all", "composed", "fused", "fused, weights asked for",
                                          "composed, weights asked for"}));
  EXPECT_EQ(static_cast<size_t>(lines(read("p.csv"))), ledger.size() + 1);
}

TEST_F(ProgramTest, ProveNamesTheMutantsThatThereAre) {
  const Result result = run_program({"prove", "--mutant", "no mask", "--json", path("p.json")});
  EXPECT_NE(result.code, 0);
  EXPECT_EQ(lines(result.err), 1);
  EXPECT_THAT(result.err, HasSubstr("there is no mutant 'no mask'; there are 'peeks one ahead', "));
  EXPECT_FALSE(fs::exists(path("p.json")));
}

}  // namespace
}  // namespace lookback::tools
