// Series inside the common chart frame.
#include "tools/plot/lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "tools/plot/axis.h"
#include "tools/plot/chart.h"
#include "tools/plot/legend.h"

namespace lookback::plot {
namespace {

struct Point {
  double x;
  double y;
};

// The two axes of a body and the way from values to its pixels.
struct Body {
  ValueAxis x_axis;
  ValueAxis y_axis;

  bool shows(double x, double y) const { return x_axis.shows(x) && y_axis.shows(y); }
  Point at(double x, double y) const {
    return {x_axis.position(x), y_axis.length - y_axis.position(y)};
  }
};

void check(const LinePlot& plot) {
  if (plot.series.empty()) {
    throw std::invalid_argument("[lines] needs at least one series; got none");
  }
  for (const Series& series : plot.series) {
    if (series.x.size() != series.y.size()) {
      throw std::invalid_argument("[lines] x and y must be equally long; got " +
                                  std::to_string(series.x.size()) + " and " +
                                  std::to_string(series.y.size()));
    }
  }
}

Rgb color_of(const LinePlot& plot, std::size_t i) {
  return plot.series[i].color.value_or(series_color(static_cast<int>(i)));
}

// The smallest and largest number that an axis must show, grown by some air.
class Extent {
 public:
  explicit Extent(bool log) : log_(log) {}

  void hold(double value) {
    if (!std::isfinite(value) || (log_ && value <= 0)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }

  ValueAxis axis(std::optional<double> low, std::optional<double> high, int length) const {
    ValueAxis axis{log_ ? 0.1 : 0.0, 1.0, log_, length};
    if (low_ <= high_ && log_) {
      const double air = low_ < high_ ? std::pow(high_ / low_, 0.05) : 2.0;
      axis.low = low_ / air;
      axis.high = high_ * air;
    } else if (low_ <= high_) {
      const double same = low_ == 0.0 ? 1.0 : std::abs(low_) * 0.5;
      const double air = low_ < high_ ? 0.05 * (high_ - low_) : same;
      axis.low = low_ - air;
      axis.high = high_ + air;
    }
    axis.low = low.value_or(axis.low);
    axis.high = high.value_or(axis.high);
    if (!(axis.low < axis.high) || (log_ && !(axis.low > 0))) {
      throw std::invalid_argument("[lines] an axis needs " +
                                  std::string(log_ ? "0 < low < high" : "low < high") + "; got " +
                                  format_number(axis.low) + " and " + format_number(axis.high));
    }
    return axis;
  }

 private:
  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

Body make_body(const LinePlot& plot, const Theme& theme) {
  Extent x_extent(plot.log_x);
  Extent y_extent(plot.log_y);
  for (const Series& series : plot.series) {
    for (const double x : series.x) x_extent.hold(x);
    for (const double y : series.y) y_extent.hold(y);
  }
  const int height =
      std::max(theme.px(plot.height), theme.text_width(plot.y_title, Theme::axis_style()));
  return {x_extent.axis(plot.x_low, plot.x_high, theme.px(plot.width)),
          y_extent.axis(plot.y_low, plot.y_high, height)};
}

std::vector<Tick> choose_ticks(const ValueAxis& axis, const std::vector<double>& given,
                               int max_count, double least_step = 0.0) {
  if (given.empty()) {
    return axis.log ? log_ticks(axis.low, axis.high, max_count)
                    : linear_ticks(axis.low, axis.high, max_count, least_step);
  }
  std::vector<Tick> ticks;
  for (const double value : given) {
    if (value >= axis.low && value <= axis.high) ticks.push_back({value, format_number(value, 6)});
  }
  return ticks;
}

void draw_series(Canvas& canvas, const Body& body, const Series& series, Rgb color,
                 const Theme& theme) {
  const double thickness = 1.8 * theme.scale();
  for (std::size_t i = 1; series.line && i < series.x.size(); ++i) {
    if (!body.shows(series.x[i - 1], series.y[i - 1]) || !body.shows(series.x[i], series.y[i])) {
      continue;
    }
    const Point from = body.at(series.x[i - 1], series.y[i - 1]);
    const Point to = body.at(series.x[i], series.y[i]);
    canvas.line(from.x, from.y, to.x, to.y, thickness, color);
  }
  for (std::size_t i = 0; series.points && i < series.x.size(); ++i) {
    if (!body.shows(series.x[i], series.y[i])) continue;
    const Point point = body.at(series.x[i], series.y[i]);
    canvas.disc(point.x, point.y, 3.2 * theme.scale(), color);
  }
}

void draw_x_axis(Canvas& canvas, const std::vector<Tick>& ticks, const ValueAxis& axis, int x,
                 int y, const Theme& theme) {
  const TextStyle style = Theme::tick_style();
  int free_from = std::numeric_limits<int>::min();
  for (const Tick& tick : ticks) {
    const int center = x + static_cast<int>(std::lround(axis.position(tick.value)));
    canvas.fill_rect(center - theme.scale() / 2, y, theme.scale(), theme.px(3), palette::frame);
    const int width = theme.text_width(tick.label, style);
    if (center - width / 2 < free_from) continue;  // it would touch the one before
    theme.text(canvas, center, y + theme.px(6), tick.label, style, Align::center);
    free_from = center + width / 2 + theme.px(5);
  }
}

// Drawn apart from the chart, so that lines end at the body's edges.
Canvas draw_body(const LinePlot& plot, const Body& body, const std::vector<Tick>& x_ticks,
                 const std::vector<Tick>& y_ticks, const Theme& theme) {
  Canvas canvas(body.x_axis.length, body.y_axis.length);
  const int hair = std::max(1, theme.px(0.5));
  for (const Tick& tick : x_ticks) {
    const auto x = static_cast<int>(std::lround(body.x_axis.position(tick.value)));
    canvas.fill_rect(x - hair / 2, 0, hair, body.y_axis.length, palette::grid);
  }
  for (const Tick& tick : y_ticks) {
    canvas.fill_rect(0, row_of(body.y_axis, tick.value, 0) - hair / 2, body.x_axis.length, hair,
                     palette::grid);
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    draw_series(canvas, body, plot.series[i], color_of(plot, i), theme);
  }
  return canvas;
}

std::vector<LegendEntry> legend_entries(const LinePlot& plot) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    if (series.name.empty()) continue;
    const Mark mark = !series.line    ? Mark::points
                      : series.points ? Mark::line_with_points
                                      : Mark::line;
    entries.push_back({color_of(plot, i), series.name, mark});
  }
  return entries;
}

}  // namespace

Panel draw_lines(const LinePlot& plot, const Theme& theme) {
  check(plot);
  const Body body = make_body(plot, theme);
  const TextStyle style = Theme::tick_style();
  const auto x_ticks =
      choose_ticks(body.x_axis, plot.x_ticks, std::clamp(body.x_axis.length / theme.px(56), 2, 9),
                   plot.whole_x ? 1.0 : 0.0);
  const auto y_ticks =
      choose_ticks(body.y_axis, plot.y_ticks, std::clamp(body.y_axis.length / theme.px(40), 2, 9));
  int overhang = 0;
  for (const Tick& tick : x_ticks) {
    overhang = std::max(overhang, theme.text_width(tick.label, style) / 2);
  }
  const ChartFrame frame{plot.title,
                         plot.caption,
                         plot.x_title,
                         plot.y_title,
                         body.x_axis.length,
                         body.y_axis,
                         y_ticks,
                         theme.px(6) + theme.line_height(style),
                         overhang};
  Panel panel = begin_chart(frame, theme);
  const int x = panel.anchor_x;
  const int y = panel.anchor_y;
  panel.canvas.draw(draw_body(plot, body, x_ticks, y_ticks, theme), x, y);
  panel.canvas.frame_rect(x, y, body.x_axis.length, body.y_axis.length, 1, palette::frame);
  draw_x_axis(panel.canvas, x_ticks, body.x_axis, x, y + body.y_axis.length, theme);
  return with_legend(panel, draw_legend(legend_entries(plot), 150, theme), plot.notes, theme);
}

}  // namespace lookback::plot
