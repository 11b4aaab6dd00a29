// The legend: which mark means what. Shared by colour bars, bars, lines and tables.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/color.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

enum class Mark { swatch, line, dashed_line, line_with_points, points };

struct LegendEntry {
  Rgb color{};
  std::string label{};
  Mark mark = Mark::swatch;
};

// One entry below the other, labels wrapped to the given width in layout units. No entries give a
// panel of no size.
Panel draw_legend(const std::vector<LegendEntry>& entries, double label_width, const Theme& theme);

// A straight line in dashes; `phase` is how far along the pattern it begins. Returns the phase at
// its end, so that a polyline keeps one pattern.
double draw_dashes(Canvas& canvas, double x0, double y0, double x1, double y1, double thickness,
                   Rgb color, double dash, double phase);

}  // namespace lookback::plot
