// Heatmaps: a matrix of numbers as coloured cells. Rows are queries, the first on top; columns are
// keys. An exact zero (masked) looks different from a tiny number, NaN has a colour of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/plot/color_scale.h"
#include "tools/plot/panel.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct Heatmap {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values{};              // rows x columns, row-major
  std::vector<std::string> row_labels{};     // one per row; empty: positions
  std::vector<std::string> column_labels{};  // one per column; empty: positions
  std::string title{};                       // above the matrix, wrapped
  std::string caption{};                     // below it, wrapped
  std::string row_title = "query";
  std::string column_title = "key";
  ColorScale scale{};
  double largest_cell = 56.0;     // layout units: less where few columns would make a tall strip
  std::optional<double> width{};  // layout units that the columns share, about: a strip whose
                                  // cells are `largest_cell` high; unset: square cells
};

// The matrix and its colour bar. A cell is a whole number of pixels; `areas` says where.
// Throws std::invalid_argument for no rows, no columns, or sizes that disagree.
Panel draw_heatmap(const Heatmap& heatmap, const Theme& theme = Theme());

// Several matrices on one colour scale (`scale`; the panels' own are ignored), `columns` to a row;
// 0: as many as make the grid wide rather than tall. Axes that neighbours share are drawn once.
struct HeatmapGrid {
  std::vector<Heatmap> panels{};
  int columns = 0;
  ColorScale scale{};
};

Panel draw_heatmap_grid(const HeatmapGrid& grid, const Theme& theme = Theme());

}  // namespace lookback::plot
