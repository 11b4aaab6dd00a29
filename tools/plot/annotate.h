// Text beside points of a plot, put where it covers least. For lines.cpp.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/canvas.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct PixelNote {
  Point at{};
  std::string text{};
};

// Each note stays wholly inside the canvas, clear of the other notes and, where there is room, of
// the `ink`: points that lines and marks run through.
void draw_notes(Canvas& canvas, const std::vector<PixelNote>& notes, const std::vector<Point>& ink,
                const Theme& theme);

}  // namespace lookback::plot
