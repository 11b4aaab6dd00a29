// One colour scale for the panels of a figure: which numbers it spans, which colour a number has,
// and its labelled bar with the legend of the colours that stand outside it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/plot/axis.h"
#include "tools/plot/color.h"
#include "tools/plot/legend.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct ColorScale {
  ColorMap map = ColorMap::blues;
  std::optional<double> low{};   // unset: 0, or the smallest number if that is negative
  std::optional<double> high{};  // unset: the largest number
  bool log = false;              // colours by the logarithm; low then defaults to the smallest > 0,
                                 // but to no less than 1e-6 of the largest
  bool zero_is_masked = true;    // an exact 0 gets the grey of the masked
  std::string title = "attention weight";
  std::string masked_label = "0 (masked)";
};

// A scale settled for given numbers. -infinity is always masked; NaN and +infinity have colours of
// their own; numbers outside [low, high] take the colour of the nearer end, and the legend says so.
class SettledScale {
 public:
  // Throws std::invalid_argument when given limits are not low < high (log: not 0 < low).
  SettledScale(const ColorScale& scale, const std::vector<std::span<const double>>& values);

  double low() const { return low_; }
  double high() const { return high_; }
  Rgb color(double value) const;

  // What a bar of so many pixels is marked with: round numbers, and both ends where they leave
  // room.
  std::vector<Tick> bar_ticks(int bar_height, const Theme& theme) const;

  // A bar about `height` pixels high, legend included; the anchor is the bar's left upper corner.
  Panel draw_bar(int height, const Theme& theme) const;

 private:
  bool is_masked(double value) const;
  double position(double value) const;  // 0 ... 1

  ColorScale scale_;
  double low_ = 0.0;
  double high_ = 1.0;
  std::vector<LegendEntry> legend_;
};

}  // namespace lookback::plot
