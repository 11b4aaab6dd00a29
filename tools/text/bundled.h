// The text that comes with the program, compiled in: found after every build and every install.
#pragma once

#include <string_view>

namespace lookback::text {

// About 10 KB of Shakespeare (tools/data/shakespeare.txt); plain ASCII, ends with a newline.
std::string_view bundled_text();

}  // namespace lookback::text
