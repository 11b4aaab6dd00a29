// The filmstrip of the online softmax: what its file holds, and where its panels stand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tools/sections_support.h"
#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

double field(const Table& table, size_t row, const std::string& name) {
  return std::stod(table.rows.at(row).at(column(table, name)));
}

TEST(Stream, TheOutputIsTheAccumulatorDividedByTheSum) {
  const Table keys = stream_section(prompt("the cat sat"), 1, "").figures.at(0).numbers;
  ASSERT_EQ(keys.rows.size(), 11U);
  for (size_t j = 0; j < keys.rows.size(); ++j) {
    for (const char* channel : {"channel 0", "channel 15"}) {
      EXPECT_NEAR(field(keys, j, std::string("output, ") + channel) * field(keys, j, "running sum"),
                  field(keys, j, std::string("accumulator, ") + channel), 1e-5)
          << j;
    }
  }
}

TEST(Stream, BothStripsShareTheirColumnsWhateverTheText) {
  for (const char* text :
       {"x", "the cat", "the cat sat on the mat and the dog looked back at it"}) {
    const Section section = stream_section(prompt(text), 1, "");
    const auto& areas = section.figures.at(0).image.areas;
    ASSERT_EQ(areas.size(), 2U);
    EXPECT_EQ(areas[0].x, areas[1].x);
    EXPECT_EQ(areas[0].cell_width, areas[1].cell_width);
    EXPECT_EQ(section.figures.at(0).hover.size(), 2U);
  }
}

}  // namespace
}  // namespace lookback::tools
