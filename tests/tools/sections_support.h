// What tests of the report's sections share: looking into facts and tables.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tools/commands/options.h"
#include "tools/report/section.h"

namespace lookback::tools {

inline TextOptions prompt(const std::string& text) {
  TextOptions options;
  options.prompt = text;
  return options;
}

inline size_t column(const Table& table, const std::string& name) {
  const auto at = std::find(table.header.begin(), table.header.end(), name);
  EXPECT_NE(at, table.header.end()) << name;
  return static_cast<size_t>(at - table.header.begin());
}

// The row of a panel in a CSV that holds several.
inline std::vector<double> panel_row(const Table& table, const std::string& panel, int64_t number) {
  for (const auto& row : table.rows) {
    if (row[0] != panel || row[1] != std::to_string(number)) continue;
    std::vector<double> values;
    for (size_t c = 2; c < row.size() && !row[c].empty(); ++c) {
      values.push_back(std::strtod(row[c].c_str(), nullptr));  // stod refuses subnormal numbers
    }
    return values;
  }
  ADD_FAILURE() << "no row " << number << " of panel " << panel;
  return {};
}

inline double quantity(const Section& section, const std::string& name) {
  for (const Fact& fact : section.facts) {
    for (const Number& number : fact.numbers) {
      if (number.name == name) return number.value;
    }
  }
  ADD_FAILURE() << section.id << " has no fact '" << name << "'";
  return 0;
}

}  // namespace lookback::tools
