// Tables as people read them, in a terminal or a page; files hold them as they are.
#pragma once

#include "tools/report/section.h"

namespace lookback::tools {

// Joins each column headed "± ..." to the one before it: 4.05 and 0.12 are shown as 4.05 ± 0.12.
Table shown_table(const Table& table);

}  // namespace lookback::tools
