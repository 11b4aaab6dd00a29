// lookback cost: the lengths that were asked for, and what can be said of times and of counts.
#include <gtest/gtest.h>

#include "tests/tools/program_support.h"
#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

std::vector<std::string> first_column(const Table& table) {
  std::vector<std::string> fields;
  for (const auto& row : table.rows) fields.push_back(row.at(0));
  return fields;
}

// Measured once for all tests.
const Section& shortest() {
  static const Section section = cost_section(1024, 1, "");
  return section;
}

TEST(Cost, EndsAtTheLengthThatWasAskedFor) {
  EXPECT_EQ(first_column(shortest().tables.at(0)),
            (std::vector<std::string>{"256", "384", "512", "768", "1024"}));
  EXPECT_EQ(first_column(cost_section(1100, 1, "").tables.at(0)),
            (std::vector<std::string>{"256", "384", "512", "768", "1100"}));
}

TEST(Cost, GivesIntervalsToTimesAndNoneToCounts) {
  for (const Fact& fact : shortest().facts) {
    const bool counted = fact.sentence.find(" bytes: T^") != std::string::npos;
    const bool timed = fact.sentence.find(" time: T^") != std::string::npos;
    EXPECT_EQ(fact.sentence.find("interval") != std::string::npos, timed) << fact.sentence;
    if (counted) {
      EXPECT_EQ(fact.numbers.size(), 1U) << fact.sentence;
    }
  }
}

TEST(Cost, SaysWhatBecomesOfTheSpeed) {
  for (const Fact& fact : shortest().facts) {
    if (fact.sentence.find("dense operations: T^2, counted") != 0) continue;
    const bool slower = fact.numbers.at(1).value < fact.numbers.at(0).value;
    EXPECT_EQ(fact.sentence.find("grows faster") != std::string::npos, slower) << fact.sentence;
    return;
  }
  FAIL() << "nothing is said of operations";
}

TEST(Cost, MediansLieBetweenTheirQuartiles) {
  const Section& section = shortest();
  const Table& exact = section.figures.at(0).numbers;
  for (const auto& row : exact.rows) {
    for (const size_t first : {1U, 4U}) {
      EXPECT_LE(std::stod(row.at(first)), std::stod(row.at(first + 1)));
      EXPECT_LE(std::stod(row.at(first + 1)), std::stod(row.at(first + 2)));
    }
  }
  EXPECT_EQ(first_column(section.tables.at(1)), first_column(section.tables.at(0)));
}

TEST(Cost, SaysWhyBytesAreRounded) {
  const Section& section = shortest();
  EXPECT_NE(section.figures.at(0).caption.find("rounds"), std::string::npos);
  EXPECT_NE(section.tables.at(0).title.find("rounds"), std::string::npos);
}

}  // namespace
}  // namespace lookback::tools
