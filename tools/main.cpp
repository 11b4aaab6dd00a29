// The lookback program. What it can do is in tools/commands/.
#include <iostream>

#include "tools/run.h"

int main(int argc, char** argv) { return lookback::tools::run(argc, argv, std::cout, std::cerr); }
