// The census of the atlas counts every head, whatever the seed.
#include <gtest/gtest.h>

#include <limits>

#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

TEST(Atlas, CountsAllHeadsOfTheLargestSeed) {
  TextOptions text;
  text.prompt = "to be or";
  const Section section =
      atlas_section(text, std::numeric_limits<uint64_t>::max(), "lookback atlas");
  const Table& census = section.tables.at(1);
  ASSERT_EQ(census.header[2], "heads");
  for (const auto& row : census.rows) {
    EXPECT_EQ(row[2], "60");
    int64_t heads = 0;
    for (size_t family = 3; family < row.size(); ++family) heads += std::stoll(row[family]);
    EXPECT_EQ(heads, 60);
  }
}

}  // namespace
}  // namespace lookback::tools
