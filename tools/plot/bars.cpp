// Bars, their value axis and their legend.
#include "tools/plot/bars.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "tools/plot/axis.h"
#include "tools/plot/chart.h"
#include "tools/plot/legend.h"

namespace lookback::plot {
namespace {

void check(const Bars& bars) {
  const std::size_t count = bars.values.size();
  if (count == 0) throw std::invalid_argument("[bars] needs at least one bar; got none");
  if (!bars.reference.empty() && bars.reference.size() != count) {
    throw std::invalid_argument("[bars] the reference must number 0 or " + std::to_string(count) +
                                "; got " + std::to_string(bars.reference.size()));
  }
  if (bars.low && bars.high && !(*bars.low < *bars.high)) {
    throw std::invalid_argument("[bars] low must be below high; got " + format_number(*bars.low) +
                                " and " + format_number(*bars.high));
  }
}

// The row of `value`, kept inside the body when given limits exclude it.
int row_at(const ValueAxis& axis, double value, int top) {
  return row_of(axis, std::clamp(value, axis.low, axis.high), top);
}

bool is_masked(const Bars& bars, double value) {
  return (value == 0.0 && bars.zero_is_masked) || (std::isinf(value) && value < 0);
}

ValueAxis value_axis(const Bars& bars) {
  double low = 0.0;
  double high = 0.0;
  for (const auto* values : {&bars.values, &bars.reference}) {
    for (const double value : *values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low < high)) high = low + 1.0;
  const double air = 0.06 * (high - low);
  ValueAxis axis;
  axis.low = bars.low.value_or(low < 0 ? low - air : low);
  axis.high = bars.high.value_or(high > 0 ? high + air : high);
  if (!(axis.low < axis.high)) axis.high = axis.low + 1.0;
  return axis;
}

std::vector<LegendEntry> legend_entries(const Bars& bars) {
  OffScale seen;
  for (const double value : bars.values) seen.see(value);
  seen.zero &= bars.zero_is_masked;
  std::vector<LegendEntry> entries;
  if (bars.highlight && !bars.highlight_label.empty()) {
    entries.push_back({series_color(1), bars.highlight_label, Mark::swatch});
  }
  if (!bars.reference.empty()) {
    entries.push_back({palette::ink, bars.reference_label, Mark::line});
  }
  append_off_scale(entries, seen, bars.masked_label);
  return entries;
}

void draw_bar(Canvas& canvas, const Bars& bars, int i, const CellArea& slot,
              const ValueAxis& axis) {
  const double value = bars.values[static_cast<std::size_t>(i)];
  const int x = slot.x + i * slot.cell_width;
  if (is_masked(bars, value) || !std::isfinite(value)) {
    const Rgb color = is_masked(bars, value) ? palette::masked
                      : std::isnan(value)    ? palette::nan
                                             : palette::infinite;
    canvas.fill_rect(x, slot.y, slot.cell_width, slot.cell_height, color);
    return;
  }
  const int gap = slot.cell_width / 6;
  const int zero = row_at(axis, 0.0, slot.y);
  const int end = row_at(axis, value, slot.y);
  canvas.fill_rect(x + gap, std::min(zero, end), slot.cell_width - 2 * gap,
                   std::max(1, std::abs(zero - end)), series_color(bars.highlight == i ? 1 : 0));
}

void draw_reference(Canvas& canvas, const Bars& bars, const CellArea& slot, const ValueAxis& axis,
                    const Theme& theme) {
  const int thickness = std::max(1, theme.px(1.2));
  for (std::size_t i = 0; i < bars.reference.size(); ++i) {
    if (!std::isfinite(bars.reference[i])) continue;
    canvas.fill_rect(slot.x + static_cast<int>(i) * slot.cell_width,
                     row_at(axis, bars.reference[i], slot.y) - thickness / 2, slot.cell_width,
                     thickness, palette::ink);
  }
}

}  // namespace

Panel draw_bars(const Bars& bars, const Theme& theme) {
  check(bars);
  const auto count = static_cast<int>(bars.values.size());
  const int cell = cell_pixels(count, bars.width, std::max(bars.width, 900.0), theme);
  const EdgeLabels labels = fit_column_labels(bars.labels, count, cell, theme);
  ChartFrame frame{bars.title, bars.caption, bars.x_title,  bars.y_title,   count * cell,
                   {},         {},           labels.extent, labels.overhang};
  frame.y_axis = value_axis(bars);
  frame.y_axis.length =
      std::max(theme.px(bars.height), theme.text_width(bars.y_title, Theme::axis_style()));
  frame.y_ticks = linear_ticks(frame.y_axis.low, frame.y_axis.high,
                               std::clamp(frame.y_axis.length / theme.px(34), 2, 7));

  Panel panel = begin_chart(frame, theme);
  const CellArea slot{panel.anchor_x, panel.anchor_y, cell, frame.y_axis.length, 1, count};
  panel.areas.push_back(slot);
  for (int i = 0; i < count; ++i) draw_bar(panel.canvas, bars, i, slot, frame.y_axis);
  draw_reference(panel.canvas, bars, slot, frame.y_axis, theme);
  panel.canvas.fill_rect(slot.x, row_at(frame.y_axis, 0.0, slot.y), frame.width, theme.scale(),
                         palette::frame);
  draw_column_labels(panel.canvas, labels, slot.x, slot.y + slot.cell_height, cell, theme);
  return with_legend(panel, draw_legend(legend_entries(bars), 150, theme), "", theme);
}

}  // namespace lookback::plot
