// The program as a function: what main() calls, and what tests call.
#pragma once

#include <iosfwd>

namespace lookback::tools {

// Runs the program. Exit codes: 0; 1 when a command failed or `out` cannot be written, with
// `lookback: heatmap: <what>` on err; 2 for wrong usage, with one line likewise.
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace lookback::tools
