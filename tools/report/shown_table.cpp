// Columns are joined from the right, so that places before them hold.
#include "tools/report/shown_table.h"

namespace lookback::tools {

Table shown_table(const Table& table) {
  Table shown = table;
  for (size_t c = shown.header.size(); c-- > 1;) {
    if (!shown.header[c].starts_with("± ")) continue;
    shown.header.erase(shown.header.begin() + static_cast<int64_t>(c));
    for (auto& row : shown.rows) {
      row[c - 1] += " ± " + row[c];
      row.erase(row.begin() + static_cast<int64_t>(c));
    }
  }
  return shown;
}

}  // namespace lookback::tools
