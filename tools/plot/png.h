// A canvas as a PNG: in memory, or as a file that is whole or not there.
#pragma once

#include <string>

#include "tools/plot/canvas.h"

namespace lookback::plot {

// The PNG's bytes: the same pixels always give the same bytes.
// Throws std::invalid_argument for a canvas without pixels.
std::string encode_png(const Canvas& canvas);

// Throws std::runtime_error, `cannot write 'x.png': No such file or directory`.
void write_png(const std::string& path, const Canvas& canvas);

}  // namespace lookback::plot
