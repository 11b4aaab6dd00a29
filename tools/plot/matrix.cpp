// Layout first, in pixels, then drawing: nothing is drawn before its room is known.
#include "tools/plot/matrix.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "tools/plot/axis.h"

namespace lookback::plot {
namespace {

constexpr double kMinTextWidth = 150.0;  // title and caption get at least this width
constexpr double kTitleGap = 7.0;
constexpr double kAxisGap = 6.0;  // between tick labels and the axis title

struct Layout {
  EdgeLabels row_labels;
  EdgeLabels column_labels;
  std::vector<std::string> title;
  std::vector<std::string> caption;
  CellArea area;
  int caption_y = 0;
  int width = 0;
  int height = 0;
};

int half_excess(int length, int available) { return std::max(0, (length - available + 1) / 2); }

Layout lay_out(const Heatmap& heatmap, const MatrixFrame& frame, const Theme& theme) {
  const TextStyle axis = Theme::axis_style();
  const int body_width = static_cast<int>(heatmap.columns) * frame.cell_width;
  const int body_height = static_cast<int>(heatmap.rows) * frame.cell_height;
  const int text_width = std::max(body_width, theme.px(kMinTextWidth));
  Layout layout;
  layout.row_labels = fit_row_labels(heatmap.row_labels, heatmap.rows, frame.cell_height, theme);
  layout.column_labels =
      fit_column_labels(heatmap.column_labels, heatmap.columns, frame.cell_width, theme);
  layout.title = theme.wrap(heatmap.title, Theme::panel_style(), text_width);
  layout.caption = theme.wrap(heatmap.caption, Theme::note_style(), text_width);

  // How far labels and axis titles stick out of the body, on each side: at least by the frame.
  int left = 1, right = 1, above = 1, below = 1;
  if (frame.row_axis) {
    left = layout.row_labels.extent + theme.px(kAxisGap) + theme.line_height(axis);
    above = std::max({above, layout.row_labels.overhang,
                      half_excess(theme.text_width(heatmap.row_title, axis), body_height)});
    below = above;
  }
  if (frame.column_axis) {
    const int title_excess = half_excess(theme.text_width(heatmap.column_title, axis), body_width);
    right = std::max({right, layout.column_labels.overhang, title_excess});
    left = std::max(left, right);
    below =
        std::max(below, layout.column_labels.extent + theme.px(kAxisGap) + theme.line_height(axis));
  }
  if (!layout.title.empty()) {
    const int title_height = theme.lines_height(layout.title, Theme::panel_style());
    above = std::max(above, title_height + theme.px(kTitleGap));
  }
  if (!layout.title.empty() || !layout.caption.empty()) {
    right = std::max(right, text_width - body_width);
  }
  layout.area = {left,
                 above,
                 frame.cell_width,
                 frame.cell_height,
                 static_cast<int>(heatmap.rows),
                 static_cast<int>(heatmap.columns)};
  layout.width = left + body_width + right;
  layout.height = above + body_height + below;
  layout.caption_y = layout.height + theme.px(kTitleGap);
  if (!layout.caption.empty()) {
    layout.height = layout.caption_y + theme.lines_height(layout.caption, Theme::note_style());
  }
  return layout;
}

void draw_cells(Canvas& canvas, const CellArea& area, const Heatmap& heatmap,
                const SettledScale& scale) {
  std::size_t i = 0;
  for (int row = 0; row < area.rows; ++row) {
    for (int column = 0; column < area.columns; ++column) {
      canvas.fill_rect(area.x + column * area.cell_width, area.y + row * area.cell_height,
                       area.cell_width, area.cell_height, scale.color(heatmap.values[i++]));
    }
  }
}

void draw_axes(Canvas& canvas, const Layout& layout, const Heatmap& heatmap,
               const MatrixFrame& frame, const Theme& theme) {
  const TextStyle axis = Theme::axis_style();
  const CellArea& area = layout.area;
  const int body_width = area.columns * area.cell_width;
  const int body_height = area.rows * area.cell_height;
  const int gap = theme.px(kAxisGap);
  canvas.frame_rect(area.x, area.y, body_width, body_height, 1, palette::frame);
  if (frame.row_axis) {
    draw_row_labels(canvas, layout.row_labels, area.x, area.y, area.cell_height, theme);
    theme.text_up(canvas, area.x - layout.row_labels.extent - gap - theme.line_height(axis),
                  area.y + body_height / 2, heatmap.row_title, axis, Align::center);
  }
  if (frame.column_axis) {
    const int edge = area.y + body_height;
    draw_column_labels(canvas, layout.column_labels, area.x, edge, area.cell_width, theme);
    theme.text(canvas, area.x + body_width / 2, edge + layout.column_labels.extent + gap,
               heatmap.column_title, axis, Align::center);
  }
}

}  // namespace

Panel draw_matrix(const Heatmap& heatmap, const SettledScale& scale, const MatrixFrame& frame,
                  const Theme& theme) {
  const Layout layout = lay_out(heatmap, frame, theme);
  Panel panel{Canvas(layout.width, layout.height), layout.area.x, layout.area.y, {layout.area}};
  theme.lines(panel.canvas, layout.area.x, 0, layout.title, Theme::panel_style());
  draw_cells(panel.canvas, layout.area, heatmap, scale);
  draw_axes(panel.canvas, layout, heatmap, frame, theme);
  theme.lines(panel.canvas, layout.area.x, layout.caption_y, layout.caption, Theme::note_style());
  return panel;
}

}  // namespace lookback::plot
