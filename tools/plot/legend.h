// The legend: which mark means what. Shared by colour bars, bars, lines and tables.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/color.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

enum class Mark { swatch, line, line_with_points, points };

struct LegendEntry {
  Rgb color{};
  std::string label{};
  Mark mark = Mark::swatch;
};

// One entry below the other, labels wrapped to the given width in layout units. No entries give a
// panel of no size.
Panel draw_legend(const std::vector<LegendEntry>& entries, double label_width, const Theme& theme);

}  // namespace lookback::plot
