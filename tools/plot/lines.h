// Line plots: several series on linear or logarithmic axes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/plot/color.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct Series {
  std::string name{};  // empty: not in the legend
  std::vector<double> x{};
  std::vector<double> y{};  // NaN breaks the line; <= 0 on a log axis is left out
  bool line = true;
  bool points = true;
  std::optional<Rgb> color{};  // unset: the next of the palette
};

struct LinePlot {
  std::vector<Series> series{};
  std::string title{};
  std::string caption{};
  std::string x_title{};
  std::string y_title{};
  bool log_x = false;
  bool whole_x = false;  // x counts something: no marks between whole numbers
  bool log_y = false;
  std::optional<double> x_low{}, x_high{}, y_low{},
      y_high{};                   // unset: from the data, with some air
  std::vector<double> x_ticks{};  // empty: chosen
  std::vector<double> y_ticks{};
  std::string notes{};   // below the legend, wrapped: fitted exponents and the like
  double width = 520.0;  // layout units, of the plot itself
  double height = 330.0;
};

// Throws std::invalid_argument for no series, sizes that disagree, or limits that are not
// low < high (positive on a log axis).
Panel draw_lines(const LinePlot& plot, const Theme& theme = Theme());

}  // namespace lookback::plot
