// Tables: rows of text with toned cells, or a matrix of equal cells under turned headings (mutants
// x theorems).
#pragma once

#include <string>
#include <vector>

#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

enum class CellTone { plain, good, bad };

struct TableCell {
  std::string text{};
  CellTone tone = CellTone::plain;
};

struct ToneMeaning {
  CellTone tone = CellTone::plain;
  std::string label{};
};

struct Table {
  std::vector<std::string> column_labels{};    // at least one
  std::vector<std::string> row_labels{};       // one per row, or empty: no label column
  std::vector<std::vector<TableCell>> rows{};  // each as long as column_labels
  std::string title{};
  std::string caption{};
  std::string row_title{};     // what the rows are: over the row labels
  std::string column_title{};  // what the columns are: over the column labels
  bool matrix = false;         // equal, squarish cells; headings turned where they are long
  std::vector<ToneMeaning> legend{};
};

// Throws std::invalid_argument for no columns, no rows, or sizes that disagree. With `matrix`,
// `areas` holds the cells.
Panel draw_table(const Table& table, const Theme& theme = Theme());

}  // namespace lookback::plot
