// One matrix, or a grid of them, beside one colour bar.
#include "tools/plot/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <stdexcept>

#include "tools/plot/axis.h"

namespace lookback::plot {
namespace {

constexpr double kMinCaptionWidth = 150.0;

// What of a matrix is drawn beside its cells.
struct Frame {
  int cell_width = 1;
  int cell_height = 1;
  bool row_axis = true;
  bool column_axis = true;
};

void check(const Heatmap& heatmap) {
  const std::string sizes =
      "[" + std::to_string(heatmap.rows) + ", " + std::to_string(heatmap.columns) + "]";
  if (heatmap.rows < 1 || heatmap.columns < 1) {
    throw std::invalid_argument("[heatmap] needs at least one row and one column; got " + sizes);
  }
  if (static_cast<std::int64_t>(heatmap.values.size()) != heatmap.rows * heatmap.columns) {
    throw std::invalid_argument("[heatmap] values must fill the matrix; got " +
                                std::to_string(heatmap.values.size()) + " for " + sizes);
  }
}

// Square cells, except that a strip of few rows (or columns) is made thick enough to read.
Frame size_cells(const Heatmap& heatmap, double target, double stretch, const Theme& theme) {
  const std::int64_t longer = std::max(heatmap.rows, heatmap.columns);
  const int cell = cell_pixels(longer, target, stretch, theme);
  const auto thick = [&](std::int64_t count) {
    return std::max<int>(
        cell, static_cast<int>(std::min<std::int64_t>(theme.px(120) / count, theme.px(32))));
  };
  return {thick(heatmap.columns), thick(heatmap.rows), true, true};
}

std::string cell_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (value == 0.0) return "0";
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.2f", value);
  return digits.data();
}

void draw_cells(Canvas& canvas, const CellArea& area, const Heatmap& heatmap,
                const SettledScale& scale) {
  for (int row = 0; row < area.rows; ++row) {
    for (int column = 0; column < area.columns; ++column) {
      const double value =
          heatmap.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(area.columns) +
                         static_cast<std::size_t>(column)];
      canvas.fill_rect(area.x + column * area.cell_width, area.y + row * area.cell_height,
                       area.cell_width, area.cell_height, scale.color(value));
    }
  }
}

void draw_numbers(Canvas& canvas, const CellArea& area, const Heatmap& heatmap,
                  const SettledScale& scale, const Theme& theme) {
  TextStyle style = Theme::tick_style();
  const int room = area.cell_width - theme.px(4);
  const bool fits = theme.line_height(style) <= area.cell_height &&
                    std::all_of(heatmap.values.begin(), heatmap.values.end(), [&](double value) {
                      return theme.text_width(cell_text(value), style) <= room;
                    });
  if (!fits) return;
  std::size_t i = 0;
  for (int row = 0; row < area.rows; ++row) {
    for (int column = 0; column < area.columns; ++column) {
      const double value = heatmap.values[i++];
      style.color = readable_ink(scale.color(value));
      theme.text(
          canvas, area.x + column * area.cell_width + area.cell_width / 2,
          area.y + row * area.cell_height + (area.cell_height - theme.line_height(style)) / 2,
          cell_text(value), style, Align::center);
    }
  }
}

Panel draw_matrix(const Heatmap& heatmap, const SettledScale& scale, const Frame& frame,
                  const Theme& theme) {
  const TextStyle axis_style = Theme::axis_style();
  const auto rows = static_cast<int>(heatmap.rows);
  const auto columns = static_cast<int>(heatmap.columns);
  const int body_width = columns * frame.cell_width;
  const int body_height = rows * frame.cell_height;
  const EdgeLabels row_labels = fit_row_labels(heatmap.row_labels, rows, frame.cell_height, theme);
  const EdgeLabels column_labels =
      fit_column_labels(heatmap.column_labels, columns, frame.cell_width, theme);
  const int axis_line = theme.line_height(axis_style);
  const int row_title_excess =
      frame.row_axis
          ? std::max(0, (theme.text_width(heatmap.row_title, axis_style) - body_height + 1) / 2)
          : 0;

  const int left =
      std::max(frame.row_axis ? row_labels.extent + axis_line + theme.px(6) : theme.px(1),
               frame.column_axis ? column_labels.overhang : 0);
  const int text_width = std::max(body_width, theme.px(kMinCaptionWidth));
  const auto title = theme.wrap(heatmap.title, Theme::panel_style(), text_width);
  const auto caption = theme.wrap(heatmap.caption, Theme::note_style(), text_width);
  const int title_height = static_cast<int>(title.size()) * theme.line_height(Theme::panel_style());
  const int top = std::max(title_height + (title.empty() ? theme.px(1) : theme.px(7)),
                           std::max(row_labels.overhang, row_title_excess));
  const int column_axis_height = frame.column_axis ? column_labels.extent + theme.px(5) + axis_line
                                                   : std::max(row_labels.overhang, theme.px(1));
  const int caption_y =
      top + body_height + std::max(column_axis_height, row_title_excess) + theme.px(6);
  const int caption_height =
      static_cast<int>(caption.size()) * theme.line_height(Theme::note_style());
  const int bottom = caption.empty() ? caption_y - theme.px(6) : caption_y + caption_height;
  const int title_overhang =
      frame.column_axis
          ? std::max(0, (theme.text_width(heatmap.column_title, axis_style) - body_width + 1) / 2)
          : 0;
  int right =
      std::max({theme.px(1), frame.column_axis ? column_labels.overhang : 0, title_overhang});
  if (!title.empty() || !caption.empty()) right = std::max(right, text_width - body_width);

  Panel panel{Canvas(left + body_width + right, bottom), left, top, {}};
  const CellArea area{left, top, frame.cell_width, frame.cell_height, rows, columns};
  panel.areas.push_back(area);
  Canvas& canvas = panel.canvas;
  theme.lines(canvas, left, 0, title, Theme::panel_style());
  draw_cells(canvas, area, heatmap, scale);
  if (heatmap.show_values) draw_numbers(canvas, area, heatmap, scale, theme);
  canvas.frame_rect(left, top, body_width, body_height, std::max(1, theme.px(0.5)), palette::frame);
  if (frame.row_axis) {
    draw_row_labels(canvas, row_labels, left, top, frame.cell_height, theme);
    theme.text_up(canvas, left - row_labels.extent - theme.px(6) - axis_line, top + body_height / 2,
                  heatmap.row_title, axis_style, Align::center);
  }
  if (frame.column_axis) {
    const int below = top + body_height;
    draw_column_labels(canvas, column_labels, left, below, frame.cell_width, theme);
    theme.text(canvas, left + body_width / 2, below + column_labels.extent + theme.px(5),
               heatmap.column_title, axis_style, Align::center);
  }
  theme.lines(canvas, left, caption_y, caption, Theme::note_style());
  return panel;
}

bool same_rows(const Heatmap& a, const Heatmap& b) {
  return a.rows == b.rows && a.row_labels == b.row_labels && a.row_title == b.row_title;
}

bool same_columns(const Heatmap& a, const Heatmap& b) {
  return a.columns == b.columns && a.column_labels == b.column_labels &&
         a.column_title == b.column_title;
}

int wide_columns(std::size_t count) {
  if (count <= 5) return static_cast<int>(count);
  return static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count) * 1.4)));
}

}  // namespace

Panel draw_heatmap(const Heatmap& heatmap, const Theme& theme) {
  check(heatmap);
  const SettledScale scale(heatmap.scale, {std::span<const double>(heatmap.values)});
  const Frame frame = size_cells(heatmap, 640, 900, theme);
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
  const double target = std::min(640.0, 1320.0 / static_cast<double>(columns));
  std::vector<Panel> panels;
  for (std::size_t i = 0; i < grid.panels.size(); ++i) {
    const Heatmap& heatmap = grid.panels[i];
    Frame frame = size_cells(heatmap, target, std::max(target, 340.0), theme);
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
