// One matrix of a heatmap figure: cells, axes, title and caption, without its colour bar. For
// heatmap.cpp; commands use heatmap.h.
#pragma once

#include "tools/plot/color_scale.h"
#include "tools/plot/heatmap.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

// The size of a cell in pixels, and which axes are drawn beside the cells.
struct MatrixFrame {
  int cell_width = 1;
  int cell_height = 1;
  bool row_axis = true;
  bool column_axis = true;
};

// REQUIRES: at least one cell, one value per cell.
Panel draw_matrix(const Heatmap& heatmap, const SettledScale& scale, const MatrixFrame& frame,
                  const Theme& theme);

}  // namespace lookback::plot
