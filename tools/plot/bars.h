// A bar chart over tokens: one query's distribution over its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct Bars {
  std::vector<double> values{};       // one per key; -infinity is masked, NaN has its own colour
  std::vector<std::string> labels{};  // one per key; empty: positions
  std::string title{};
  std::string caption{};
  std::string x_title = "key";
  std::string y_title = "attention weight";
  std::optional<double> low{};   // unset: 0, or below the smallest number
  std::optional<double> high{};  // unset: above the largest number
  bool zero_is_masked = true;    // an exact 0 shades its key from top to bottom
  std::string masked_label = "0 (masked)";
  std::vector<double> reference{};  // a step line over the bars, one value per key: a baseline
  std::string reference_label{};
  std::optional<std::int64_t> highlight{};  // a bar in the second colour: the query itself
  std::string highlight_label{};
  double width = 640.0;   // layout units that the bars share, about
  double height = 200.0;  // layout units, of the plot itself
};

// Throws std::invalid_argument for no bars or sizes that disagree. `areas` holds one row of cells.
Panel draw_bars(const Bars& bars, const Theme& theme = Theme());

}  // namespace lookback::plot
