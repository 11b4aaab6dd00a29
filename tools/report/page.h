// The lab's report: one HTML file that needs nothing else, neither network nor the files beside it.
#pragma once

#include <string>
#include <vector>

#include "tools/report/section.h"

namespace lookback::tools {

struct PageText {
  std::string title;
  std::string introduction;
  std::string command;   // that made the page
  std::string folder{};  // where write_section() put the files that the page names; empty: nowhere
};

// Pictures are embedded; hovering a matrix cell shows its query, key and value.
std::string page(const PageText& text, const std::vector<Section>& sections);

}  // namespace lookback::tools
