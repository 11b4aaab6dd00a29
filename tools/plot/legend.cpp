// Legend marks and their labels.
#include "tools/plot/legend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace lookback::plot {
namespace {

constexpr double kSwatch = 12.0;
constexpr double kLineSample = 24.0;
constexpr double kGap = 7.0;       // from mark to label
constexpr double kEntryGap = 4.0;  // between entries

void draw_mark(Canvas& canvas, const LegendEntry& entry, int center_y, const Theme& theme) {
  const int swatch = theme.px(kSwatch);
  const int length = theme.px(kLineSample);
  if (entry.mark == Mark::swatch) {
    canvas.fill_rect(0, center_y - swatch / 2, swatch, swatch, entry.color);
    const bool pale = std::min({entry.color.r, entry.color.g, entry.color.b}) > 240;
    if (pale) canvas.frame_rect(0, center_y - swatch / 2, swatch, swatch, 1, palette::frame);
    return;
  }
  const double thickness = 1.8 * theme.scale();
  if (entry.mark != Mark::points) {
    canvas.line(thickness, center_y, length - thickness, center_y, thickness, entry.color);
  }
  if (entry.mark == Mark::points || entry.mark == Mark::line_with_points) {
    canvas.disc(length / 2.0, center_y, 3.2 * theme.scale(), entry.color);
  }
}

}  // namespace

Panel draw_legend(const std::vector<LegendEntry>& entries, double label_width, const Theme& theme) {
  const TextStyle style = Theme::tick_style();
  const int line = theme.line_height(style);
  const bool lines = std::any_of(entries.begin(), entries.end(), [](const LegendEntry& entry) {
    return entry.mark != Mark::swatch;
  });
  const int label_x = theme.px((lines ? kLineSample : kSwatch) + kGap);
  std::vector<std::vector<std::string>> labels;
  int width = 0;
  int height = 0;
  for (const LegendEntry& entry : entries) {
    labels.push_back(theme.wrap(entry.label, style, theme.px(label_width)));
    for (const std::string& text : labels.back()) {
      width = std::max(width, label_x + theme.text_width(text, style) + 1);
    }
    const auto count = std::max<std::size_t>(labels.back().size(), 1);
    height += static_cast<int>(count) * line + theme.px(kEntryGap);
  }
  Panel panel{Canvas(width, height), 0, 0, {}};
  int y = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    draw_mark(panel.canvas, entries[i], y + line / 2, theme);
    const int below = theme.lines(panel.canvas, label_x, y, labels[i], style);
    y = std::max(below, y + line) + theme.px(kEntryGap);
  }
  return panel;
}

void OffScale::see(double value) {
  zero |= value == 0.0;
  nan |= std::isnan(value);
  if (std::isinf(value)) (value > 0 ? positive_infinity : negative_infinity) = true;
}

void append_off_scale(std::vector<LegendEntry>& entries, const OffScale& seen,
                      const std::string& masked_label) {
  if (seen.zero) entries.push_back({palette::masked, masked_label});
  if (seen.negative_infinity) entries.push_back({palette::masked, "−∞ (masked)"});
  if (seen.positive_infinity) entries.push_back({palette::infinite, "+∞"});
  if (seen.nan) entries.push_back({palette::nan, "NaN"});
}

}  // namespace lookback::plot
