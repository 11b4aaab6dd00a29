// The frame of bar charts and line plots.
#include "tools/plot/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace lookback::plot {
namespace {

constexpr double kTickGap = 7.0;   // from the body to a tick label
constexpr double kTitleGap = 9.0;  // from the panel's title to the body
constexpr double kAxisGap = 6.0;   // from tick labels to the axis title
constexpr double kCaptionGap = 7.0;
constexpr double kMinTextWidth = 150.0;
constexpr double kNotesWidth = 170.0;

// Labels that would touch the one below are left out; their grid lines stay.
void draw_value_axis(Canvas& canvas, const ChartFrame& frame, int left, int top,
                     const Theme& theme) {
  const TextStyle style = Theme::tick_style();
  const int line = theme.line_height(style);
  int free_above = top + frame.y_axis.length + line;
  for (const Tick& tick : frame.y_ticks) {
    const int y = row_of(frame.y_axis, tick.value, top);
    canvas.fill_rect(left, y, frame.width, std::max(1, theme.px(0.5)), palette::grid);
    if (y + line / 2 > free_above) continue;
    theme.text(canvas, left - theme.px(kTickGap), y - line / 2, tick.label, style, Align::right);
    free_above = y - line / 2;
  }
}

}  // namespace

bool ValueAxis::shows(double value) const { return std::isfinite(value) && (!log || value > 0); }

double ValueAxis::position(double value) const {
  const double part =
      log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return part * length;
}

int row_of(const ValueAxis& axis, double value, int top) {
  return top + axis.length - static_cast<int>(std::lround(axis.position(value)));
}

Panel begin_chart(const ChartFrame& frame, const Theme& theme) {
  const TextStyle tick_style = Theme::tick_style();
  const TextStyle axis_style = Theme::axis_style();
  const int axis_line = theme.line_height(axis_style);
  const int text_width = std::max(frame.width, theme.px(kMinTextWidth));
  const auto title = theme.wrap(frame.title, Theme::panel_style(), text_width);
  const auto caption = theme.wrap(frame.caption, Theme::note_style(), text_width);
  int tick_width = 0;
  for (const Tick& tick : frame.y_ticks) {
    tick_width = std::max(tick_width, theme.text_width(tick.label, tick_style));
  }
  const int y_title_x_from_body = theme.px(kTickGap) + tick_width + theme.px(kAxisGap) + axis_line;
  const int left = std::max(y_title_x_from_body, frame.x_overhang);
  const int title_height = theme.lines_height(title, Theme::panel_style());
  const int top = std::max(title.empty() ? 0 : title_height + theme.px(kTitleGap),
                           theme.line_height(tick_style) / 2 + 1);
  const int bottom = top + frame.y_axis.length;
  const int x_title_y = bottom + frame.x_extent + theme.px(kAxisGap);
  const int caption_y = x_title_y + axis_line + theme.px(kCaptionGap);
  const int height = caption.empty() ? x_title_y + axis_line
                                     : caption_y + theme.lines_height(caption, Theme::note_style());
  const int excess = title.empty() && caption.empty() ? 0 : text_width - frame.width;
  const int right = std::max({frame.x_overhang, excess, theme.px(2)});

  Panel panel{Canvas(left + frame.width + right, height), left, top, {}};
  theme.lines(panel.canvas, left, 0, title, Theme::panel_style());
  draw_value_axis(panel.canvas, frame, left, top, theme);
  theme.text(panel.canvas, left + frame.width / 2, x_title_y, frame.x_title, axis_style,
             Align::center);
  theme.text_up(panel.canvas, left - y_title_x_from_body, top + frame.y_axis.length / 2,
                frame.y_title, axis_style, Align::center);
  theme.lines(panel.canvas, left, caption_y, caption, Theme::note_style());
  return panel;
}

Panel with_legend(Panel chart, const Panel& legend, const std::string& notes, const Theme& theme) {
  std::vector<Panel> side;
  if (legend.canvas.height() > 0) side.push_back(legend);
  if (!notes.empty()) side.push_back(text_panel(notes, kNotesWidth, theme));
  if (side.empty()) return chart;
  Panel column = arrange(side, 1, theme);
  column.anchor_y = 0;
  column.anchor_x = 0;
  return arrange({std::move(chart), column}, 2, theme);
}

}  // namespace lookback::plot
