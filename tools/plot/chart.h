// What bar charts and line plots have in common: a body with a value axis at its left, titles
// around it, a caption below. For bars.cpp and lines.cpp; commands use their headers.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/axis.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

// Values on an axis of `length` pixels. REQUIRES: low < high (0 < low when log).
struct ValueAxis {
  double low = 0.0;
  double high = 1.0;
  bool log = false;
  int length = 0;

  bool shows(double value) const;       // finite, and positive when log
  double position(double value) const;  // pixels from the axis' low end, unclamped
};

struct ChartFrame {
  std::string title{};
  std::string caption{};
  std::string x_title{};
  std::string y_title{};
  int width = 0;  // pixels of the body
  ValueAxis y_axis{};
  std::vector<Tick> y_ticks{};
  int x_extent = 0;    // pixels that the labels below the body need
  int x_overhang = 0;  // pixels by which they may stick out at its sides
};

// The chart without its bars or lines: titles, caption, value axis with grid lines. The body is
// empty, its left upper corner is the anchor.
Panel begin_chart(const ChartFrame& frame, const Theme& theme);

// The canvas row of `value` in a chart whose body has its top at `top`.
int row_of(const ValueAxis& axis, double value, int top);

// `chart` with a legend and notes at its right, where there are any.
Panel with_legend(Panel chart, const Panel& legend, const std::string& notes, const Theme& theme);

}  // namespace lookback::plot
