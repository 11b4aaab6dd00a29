// One matrix, or a grid of them, beside one colour bar.
#include "tools/plot/heatmap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "tools/plot/axis.h"
#include "tools/plot/matrix.h"

namespace lookback::plot {
namespace {

// Layout units for the matrices of a row. With axes and bar it fills the column of a report, so
// that its text is as large there as that of one matrix alone.
constexpr double kGridWidth = 860.0;

void check(const Heatmap& heatmap) {
  std::string sizes = "[";
  sizes += std::to_string(heatmap.rows) + ", " + std::to_string(heatmap.columns) + "]";
  if (heatmap.rows < 1 || heatmap.columns < 1) {
    throw std::invalid_argument("[heatmap] needs at least one row and one column; got " + sizes);
  }
  if (static_cast<std::int64_t>(heatmap.values.size()) != heatmap.rows * heatmap.columns) {
    throw std::invalid_argument("[heatmap] values must fill the matrix; got " +
                                std::to_string(heatmap.values.size()) + " for " + sizes);
  }
}

// Square cells, except that a strip of few rows (or columns) is made thick enough to read.
MatrixFrame size_cells(const Heatmap& heatmap, double target, double stretch, const Theme& theme) {
  const std::int64_t longer = std::max(heatmap.rows, heatmap.columns);
  const int cell =
      std::min(cell_pixels(longer, target, stretch, theme), theme.px(heatmap.largest_cell));
  const auto thick = [&](std::int64_t count) {
    return std::max<int>(
        cell, static_cast<int>(std::min<std::int64_t>(theme.px(120) / count, theme.px(32))));
  };
  MatrixFrame frame{thick(heatmap.columns), thick(heatmap.rows), true, true};
  if (heatmap.width) {
    const std::int64_t width = theme.px(*heatmap.width) / heatmap.columns;
    frame.cell_width = static_cast<int>(std::max<std::int64_t>(1, width));
    frame.cell_height = theme.px(heatmap.largest_cell);
  }
  return frame;
}

bool same_rows(const Heatmap& a, const Heatmap& b) {
  return a.rows == b.rows && a.row_labels == b.row_labels && a.row_title == b.row_title;
}

bool same_columns(const Heatmap& a, const Heatmap& b) {
  return a.columns == b.columns && a.column_labels == b.column_labels &&
         a.column_title == b.column_title;
}

int wide_columns(std::size_t count) {
  if (count <= 3) return static_cast<int>(count);
  if (count == 4) return 2;
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count) * 1.4)));
}

}  // namespace

Panel draw_heatmap(const Heatmap& heatmap, const Theme& theme) {
  check(heatmap);
  const SettledScale scale(heatmap.scale, {std::span<const double>(heatmap.values)});
  const MatrixFrame frame = size_cells(heatmap, 640, 900, theme);
  const int body_height = static_cast<int>(heatmap.rows) * frame.cell_height;
  return arrange({draw_matrix(heatmap, scale, frame, theme), scale.draw_bar(body_height, theme)}, 2,
                 theme);
}

Panel draw_heatmap_grid(const HeatmapGrid& grid, const Theme& theme) {
  if (grid.panels.empty()) {
    throw std::invalid_argument("[heatmap_grid] needs at least one panel; got none");
  }
  std::vector<std::span<const double>> values;
  for (const Heatmap& heatmap : grid.panels) {
    check(heatmap);
    values.emplace_back(heatmap.values);
  }
  const SettledScale scale(grid.scale, values);
  const int wanted = grid.columns > 0 ? grid.columns : wide_columns(grid.panels.size());
  const auto columns = std::min(static_cast<std::size_t>(wanted), grid.panels.size());
  const double gaps = 26.0 * static_cast<double>(columns - 1);
  const double target = std::min(640.0, (kGridWidth - gaps) / static_cast<double>(columns));
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < grid.panels.size(); ++i) {
    const Heatmap& heatmap = grid.panels[i];
    MatrixFrame frame = size_cells(heatmap, target, target, theme);
    frame.row_axis = i % columns == 0 || !same_rows(heatmap, grid.panels[i - 1]);
    frame.column_axis =
        i + columns >= grid.panels.size() || !same_columns(heatmap, grid.panels[i + columns]);
    panels.push_back(draw_matrix(heatmap, scale, frame, theme));
  }
  const Panel matrices = arrange(panels, static_cast<int>(columns), theme);
  const CellArea& first = matrices.areas.front();
  const int bar_height = std::max(first.rows * first.cell_height,
                                  std::min(matrices.canvas.height() * 2 / 3, theme.px(420)));
  return arrange({matrices, scale.draw_bar(bar_height, theme)}, 2, theme);
}

}  // namespace lookback::plot
