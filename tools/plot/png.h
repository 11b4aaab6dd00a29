// A canvas as a PNG.
#pragma once

#include <string>

#include "tools/plot/canvas.h"

namespace lookback::plot {

// The PNG's bytes: the same pixels always give the same bytes.
// Throws std::invalid_argument for a canvas without pixels.
std::string encode_png(const Canvas& canvas);

}  // namespace lookback::plot
