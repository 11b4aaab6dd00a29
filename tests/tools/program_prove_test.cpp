// lookback prove, when a theorem fails: the library cannot show it, a mutant can.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

using testing::HasSubstr;

TEST_F(ProgramTest, ProveOfAMutantFailsAndShowsTheSmallestCounterexample) {
  const Result result =
      run_program({"prove", "--mutant", "mask after softmax", "--json", path("p.json")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("theorem 'simplex' (path: all) fails: B 1, T 2, d 1: row sum"));
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

TEST_F(ProgramTest, ProveCountsUlpsWhereRoundingIsAllowed) {
  ASSERT_EQ(run_program({"prove", "--json", path("p.json")}).code, 0);
  int64_t counted = 0;
  for (const auto& line : nlohmann::json::parse(read("p.json"))) {
    EXPECT_TRUE(line["kind"] == "numerical" || line["ulp"].is_null()) << line;
    if (line["ulp"].is_null()) continue;
    ++counted;
    EXPECT_GE(line["ulp"].get<double>(), 0);
  }
  EXPECT_GE(counted, 6);
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
