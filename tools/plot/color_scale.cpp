// Settling limits and drawing the bar.
#include "tools/plot/color_scale.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "tools/plot/axis.h"

namespace lookback::plot {
namespace {

constexpr double kBarWidth = 14.0;
constexpr double kLegendWidth = 130.0;
constexpr double kMinBarHeight = 120.0;
constexpr double kLogRange = 1e-6;  // of the largest number: a longer scale tells less

// What a set of numbers holds.
struct Census {
  double smallest = std::numeric_limits<double>::infinity();
  double smallest_positive = std::numeric_limits<double>::infinity();
  double smallest_nonzero = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();
  OffScale off_scale{};
};

Census take_census(const std::vector<std::span<const double>>& values) {
  Census census;
  for (const std::span<const double> part : values) {
    for (const double value : part) {
      census.off_scale.see(value);
      if (!std::isfinite(value)) continue;
      census.smallest = std::min(census.smallest, value);
      census.largest = std::max(census.largest, value);
      if (value != 0.0) census.smallest_nonzero = std::min(census.smallest_nonzero, value);
      if (value > 0) census.smallest_positive = std::min(census.smallest_positive, value);
    }
  }
  return census;
}

}  // namespace

SettledScale::SettledScale(const ColorScale& scale,
                           const std::vector<std::span<const double>>& values)
    : scale_(scale) {
  Census census = take_census(values);
  const bool empty = census.smallest > census.largest;
  if (scale.log) {
    low_ = std::isinf(census.smallest_positive) ? 0.1 : census.smallest_positive;
    if (!std::isinf(census.smallest_positive)) low_ = std::max(low_, census.largest * kLogRange);
    high_ = std::isinf(census.smallest_positive) ? 1.0 : census.largest;
    if (!(low_ < high_)) low_ = high_ / 10;
  } else if (!empty) {
    low_ = std::min(0.0, census.smallest);
    high_ = std::max(low_, census.largest);
    if (scale.map == ColorMap::red_blue) {  // white must mean 0
      high_ = std::max(std::abs(low_), std::abs(high_));
      low_ = -high_;
    }
    if (!(low_ < high_)) high_ = low_ + 1.0;
  }
  low_ = scale.low.value_or(low_);
  high_ = scale.high.value_or(high_);
  if (!(low_ < high_) || !std::isfinite(high_ - low_) || (scale.log && !(low_ > 0))) {
    throw std::invalid_argument("[plot] a colour scale needs " +
                                std::string(scale.log ? "0 < low < high" : "low < high") +
                                "; got " + format_number(low_) + " and " + format_number(high_));
  }
  const double least = scale.zero_is_masked ? census.smallest_nonzero : census.smallest;
  if (!empty && least < low_) {
    legend_.push_back({color_at(scale.map, 0.0), "below " + format_number(low_)});
  }
  if (!empty && census.largest > high_) {
    legend_.push_back({color_at(scale.map, 1.0), "above " + format_number(high_)});
  }
  census.off_scale.zero &= scale.zero_is_masked;
  append_off_scale(legend_, census.off_scale, scale.masked_label);
}

bool SettledScale::is_masked(double value) const {
  return (value == 0.0 && scale_.zero_is_masked) || (std::isinf(value) && value < 0);
}

double SettledScale::position(double value) const {
  if (!scale_.log) return (value - low_) / (high_ - low_);
  if (!(value > 0)) return 0.0;
  return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));
}

Rgb SettledScale::color(double value) const {
  if (std::isnan(value)) return palette::nan;
  if (is_masked(value)) return palette::masked;
  if (std::isinf(value)) return palette::infinite;
  return color_at(scale_.map, position(value));
}

Panel SettledScale::draw_bar(int height, const Theme& theme) const {
  const TextStyle tick_style = Theme::tick_style();
  const TextStyle axis_style = Theme::axis_style();
  const int line = theme.line_height(tick_style);
  const Panel legend = draw_legend(legend_, kLegendWidth, theme);
  const int legend_height = legend_.empty() ? 0 : theme.px(14) + legend.canvas.height();
  const int title_length = theme.text_width(scale_.title, axis_style);
  const int bar_width = theme.px(kBarWidth);
  const int bar_height = std::max({height - legend_height, theme.px(kMinBarHeight), title_length});
  const std::vector<Tick> ticks = bar_ticks(bar_height, theme);
  int tick_width = 0;
  for (const Tick& tick : ticks) {
    tick_width = std::max(tick_width, theme.text_width(tick.label, tick_style));
  }
  const int label_x = bar_width + theme.px(7);
  const int title_x = label_x + tick_width + theme.px(8);
  const int width = std::max(title_x + theme.line_height(axis_style), legend.canvas.width());
  const int top = line / 2;  // half a tick label may stand above the bar
  Panel panel{Canvas(width, top + bar_height + std::max(legend_height, line / 2) + 1), 0, top, {}};
  Canvas& canvas = panel.canvas;
  for (int y = 0; y < bar_height; ++y) {
    canvas.fill_rect(0, top + y, bar_width, 1, color_at(scale_.map, 1.0 - (y + 0.5) / bar_height));
  }
  for (const Tick& tick : ticks) {
    const int y = top + static_cast<int>(std::lround((1.0 - position(tick.value)) * bar_height));
    canvas.fill_rect(bar_width, y - theme.scale() / 2, theme.px(3), theme.scale(), palette::frame);
    theme.text(canvas, label_x, y - line / 2, tick.label, tick_style);
  }
  theme.text_up(canvas, title_x, top + bar_height / 2, scale_.title, axis_style, Align::center);
  canvas.draw(legend.canvas, 0, top + bar_height + theme.px(14));
  return panel;
}

std::vector<Tick> SettledScale::bar_ticks(int bar_height, const Theme& theme) const {
  const int max_count = std::clamp(bar_height / theme.px(40), 2, 7);
  std::vector<Tick> ticks =
      scale_.log ? log_ticks(low_, high_, max_count) : linear_ticks(low_, high_, max_count);
  const double line = theme.line_height(Theme::tick_style());
  for (const double end : {low_, high_}) {
    const bool room = std::none_of(ticks.begin(), ticks.end(), [&](const Tick& tick) {
      return std::abs(position(tick.value) - position(end)) * bar_height < line;
    });
    if (room) ticks.push_back({end, format_number(end, 2)});
  }
  return ticks;
}

}  // namespace lookback::plot
