// Text inside HTML, and inside what Graphviz reads as HTML.
#pragma once

#include <string>
#include <string_view>

namespace lookback::text {

// With entities for & < > and the double quote: safe as content and inside "attributes".
std::string html_escaped(std::string_view text);

}  // namespace lookback::text
