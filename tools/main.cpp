// The lookback program. What it can do is in tools/commands/.
#include <csignal>
#include <iostream>

#include "tools/run.h"

int main(int argc, char** argv) {
  // `lookback prove | head -1` ends quietly, even where the caller had the signal ignored.
  std::signal(SIGPIPE, SIG_DFL);
  return lookback::tools::run(argc, argv, std::cout, std::cerr);
}
