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

// Which values occur that have no place on a scale: their colours are the same in every figure.
struct OffScale {
  bool zero = false;  // an exact one, where it means masked
  bool negative_infinity = false;
  bool positive_infinity = false;
  bool nan = false;

  void see(double value);
};

// Appends an entry for each that occurs; `masked_label` is what a zero is called.
void append_off_scale(std::vector<LegendEntry>& entries, const OffScale& seen,
                      const std::string& masked_label);

}  // namespace lookback::plot
