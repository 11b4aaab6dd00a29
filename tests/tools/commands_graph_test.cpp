// lookback graph and shapes: what is shown of a recorded graph.
#include <gtest/gtest.h>

#include <string>

#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

TEST(Graph, TheDrawingAndItsTableGiveTheSameDigits) {
  const Section section = graph_section(1, "");
  const Table& shown = section.tables.at(0);
  const Table& exact = section.data.at(0);
  for (size_t i = 0; i < shown.rows.size(); ++i) {
    const std::string& digits = shown.rows[i].back();
    EXPECT_NE(section.drawings.at(0).dot.find("|grad| = " + digits + "\""), std::string::npos);
    EXPECT_NEAR(std::stod(exact.rows.at(i).back()), std::stod(digits), 1e-4 * std::stod(digits));
  }
}

// A 4-byte result that "keeps 64" is no riddle.
TEST(Shapes, SaysThatTheAllocatorRounds) {
  const Section section = shapes_section({1, 1, 1, 1}, "");
  EXPECT_NE(section.tables.at(0).title.find("as the allocator rounds it"), std::string::npos);
  EXPECT_NE(section.claim.find("The allocator rounds up, to whole blocks of 64 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace lookback::tools
