// --json: what an experiment measured, for other programs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

TEST_F(ProgramTest, EveryExperimentGivesItsNumbersAsJson) {
  for (const char* command :
       {"break", "influence", "scale", "atlas", "smooth", "row", "stream", "order", "cost"}) {
    SCOPED_TRACE(command);
    std::vector<std::string> arguments = {command, "--json", path("x.json")};
    if (std::string(command) == "cost") arguments.insert(arguments.end(), {"--max", "1024"});
    ASSERT_EQ(run_program(arguments).code, 0);
    const nlohmann::json json = nlohmann::json::parse(read("x.json"));
    EXPECT_EQ(json["id"], command);
    EXPECT_FALSE(json["claim"].get<std::string>().empty());
    int64_t numbers = 0;
    for (const auto& fact : json["facts"]) numbers += static_cast<int64_t>(fact["numbers"].size());
    EXPECT_GT(numbers, 0);
    ASSERT_TRUE(json["figures"].contains(command));
    for (const auto& row : json["figures"][command]["rows"]) {
      const size_t columns = json["figures"][command]["columns"].size();
      EXPECT_TRUE(columns == 0 || row.size() == columns);
    }
  }
}

TEST_F(ProgramTest, JsonHoldsTheLessonsTableAsNumbers) {
  ASSERT_EQ(run_program({"scale", "--json", path("x.json")}).code, 0);
  const nlohmann::json json = nlohmann::json::parse(read("x.json"));
  const nlohmann::json& seeds = json["tables"]["seeds"];
  EXPECT_EQ(seeds["rows"].size(), 15U);  // five seeds, three widths
  for (const auto& row : seeds["rows"]) {
    for (const auto& field : row) EXPECT_TRUE(field.is_number()) << field;
  }
}

}  // namespace
}  // namespace lookback::tools
