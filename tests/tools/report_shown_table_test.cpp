// Tables for people join a mean and its spread; files keep them as numbers.
#include "tools/report/shown_table.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

using Fields = std::vector<std::string>;

TEST(ShownTable, JoinsAMeanAndItsSpread) {
  Table table;
  table.header = {"d", "std", "± std", "weight", "± weight"};
  table.rows = {{"16", "4.05", "0.12", "1.0", "0.0"}};
  const Table shown = shown_table(table);
  EXPECT_EQ(shown.header, (Fields{"d", "std", "weight"}));
  EXPECT_EQ(shown.rows[0], (Fields{"16", "4.05 ± 0.12", "1.0 ± 0.0"}));
}

TEST(ShownTable, LeavesOthersAsTheyAre) {
  Table table;
  table.rows = {{"± 1", "± 2"}};
  EXPECT_EQ(shown_table(table).rows, table.rows);
  table.header = {"± first", "second"};
  EXPECT_EQ(shown_table(table).header, table.header);
}

TEST(ScaleTables, HoldNumbersAlone) {
  const Section section = scale_section(1, "lookback scale");
  for (const auto& tables : {section.tables, section.data}) {
    for (const Table& table : tables) {
      for (const auto& row : table.rows) {
        ASSERT_EQ(row.size(), table.header.size());
        for (const std::string& field : row) {
          char* end = nullptr;
          std::strtod(field.c_str(), &end);
          EXPECT_TRUE(!field.empty() && *end == '\0') << field;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lookback::tools
