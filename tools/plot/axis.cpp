// Tick and label arithmetic. A label is drawn whole or not at all.
#include "tools/plot/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>

namespace lookback::plot {
namespace {

constexpr double kTickLength = 3.0;
constexpr double kLabelGap = 6.0;  // from the edge to a label, the tick included

std::string fixed(double value, int decimals) {
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%.*f", decimals, value == 0.0 ? 0.0 : value);
  return digits.data();
}

std::string power_of_ten(int exponent) {
  constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                   "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) {
    text += kDigits[static_cast<std::size_t>(digit - '0')];
  }
  return text;
}

// The smallest of 1, 2, 5, 10, 20, 50, ... that is at least `n`.
int round_up_125(int n) {
  for (int decade = 1;; decade *= 10) {
    for (const int digit : {1, 2, 5}) {
      if (digit * decade >= n) return digit * decade;
    }
  }
}

int ceil_divide(int a, int b) { return (a + b - 1) / b; }

// Each label as `face` draws it alone, so that it looks the same with a number before it.
std::vector<std::string> edge_texts(const std::vector<std::string>& labels, std::int64_t count,
                                    bool numbered, const Font& face) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < count; ++i) {
    if (labels.empty()) {
      texts.push_back(std::to_string(i));
    } else {
      const std::string label = face.drawable(labels[static_cast<std::size_t>(i)]);
      texts.push_back(numbered ? std::to_string(i) + " " + label : label);
    }
  }
  return texts;
}

void check_count(const std::vector<std::string>& labels, std::int64_t count) {
  if (!labels.empty() && static_cast<std::int64_t>(labels.size()) != count) {
    throw std::invalid_argument("[plot] labels must number 0 or " + std::to_string(count) +
                                "; got " + std::to_string(labels.size()));
  }
}

// How wide the labels are that are drawn; 0 for the others.
std::vector<int> drawn_widths(const EdgeLabels& labels, const Theme& theme) {
  std::vector<int> widths(labels.texts.size());
  for (std::size_t i = 0; i < widths.size(); i += static_cast<std::size_t>(labels.stride)) {
    widths[i] = theme.text_width(labels.texts[i], labels.style);
  }
  return widths;
}

int widest(const std::vector<int>& widths) {
  return *std::max_element(widths.begin(), widths.end());
}

// Tokens have few tall letters: lines an eighth less than a line apart do not touch.
int least_line_distance(int line_height) { return line_height - line_height / 8; }

// Whether two neighbours of the column labels touch, all of them drawn.
bool columns_touch(const std::vector<int>& widths, int room, int line_height, int cell) {
  const int air = cell - room;
  int before = 0;  // what the label before takes of the edge
  for (const int width : widths) {
    const int taken = width > room ? least_line_distance(line_height) : width + air;
    if (before + taken > 2 * cell) return true;
    before = taken;
  }
  return false;
}

// Few plain marks keep their words; thinned ones get some air and a round stride.
int thinned_stride(int needed, int cell) { return round_up_125(ceil_divide(needed * 5 / 4, cell)); }

// A little smaller where cells are narrow: a full line of tokens stays readable.
TextStyle style_for(int cell, const Theme& theme) {
  TextStyle style = Theme::token_style();
  if (cell < theme.px(17)) style.size = 11.0;
  return style;
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, int max_count, double least_step) {
  const double span = high - low;
  // From a step that is surely too fine to coarser until few enough marks fit.
  int exponent = static_cast<int>(std::floor(std::log10(span / max_count))) - 1;
  double step = 0.0;
  for (int digit = 1;; digit = digit == 1 ? 2 : digit == 2 ? 5 : 1) {
    if (digit == 1) ++exponent;
    step = digit * std::pow(10.0, exponent);
    const double count = std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) + 1;
    if (count <= max_count && step >= least_step) break;
  }
  const int decimals = std::clamp(-exponent, 0, 12);
  const bool extreme = std::max(std::abs(low), std::abs(high)) >= 1e6 || exponent < -6;
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + span * 1e-9; k += 1.0) {
    const double value = k * step;
    ticks.push_back({value, extreme ? format_number(value, 4) : fixed(value, decimals)});
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int max_count) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  std::vector<Tick> ticks;
  if (last - first >= 2) {
    const int stride = ceil_divide(last - first + 1, max_count);
    const bool plain = first >= -3 && last <= 5;
    for (int k = first; k <= last; k += stride) {
      const double value = std::pow(10.0, k);
      ticks.push_back({value, plain ? format_number(value, 6) : power_of_ten(k)});
    }
    return ticks;
  }
  for (int k = first - 1; k <= last; ++k) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, k);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) {
        ticks.push_back({value, format_number(value, 6)});
      }
    }
  }
  if (ticks.size() < 3) {
    ticks = linear_ticks(low, high, std::min(max_count, 5));
    std::erase_if(ticks, [](const Tick& tick) { return tick.value <= 0; });
  }
  return ticks;
}

std::string format_number(double value, int significant) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::array<char, 64> digits{};
  std::snprintf(digits.data(), digits.size(), "%.*g", significant, value == 0.0 ? 0.0 : value);
  return digits.data();
}

EdgeLabels fit_row_labels(const std::vector<std::string>& labels, std::int64_t count, int cell,
                          const Theme& theme) {
  check_count(labels, count);
  EdgeLabels fit;
  fit.style = style_for(cell, theme);
  const int needed = theme.line_height(fit.style);
  fit.stride = least_line_distance(needed) <= cell ? 1 : thinned_stride(needed, cell);
  fit.texts = edge_texts(labels, count, fit.stride > 1, theme.font(fit.style.face));
  fit.extent = widest(drawn_widths(fit, theme)) + theme.px(kLabelGap);
  fit.overhang = std::max(0, (needed - cell) / 2 + 1);
  return fit;
}

EdgeLabels fit_column_labels(const std::vector<std::string>& labels, std::int64_t count, int cell,
                             const Theme& theme) {
  check_count(labels, count);
  EdgeLabels fit;
  fit.style = style_for(cell, theme);
  fit.room = cell - theme.px(2);
  const int height = theme.line_height(fit.style);
  fit.texts = edge_texts(labels, count, false, theme.font(fit.style.face));
  std::vector<int> widths = drawn_widths(fit, theme);
  if (columns_touch(widths, fit.room, height, cell)) {
    fit.texts = edge_texts(labels, count, true, theme.font(fit.style.face));
    fit.stride = thinned_stride(height, cell);
    widths = drawn_widths(fit, theme);
    // Numbered, they are about equally long: all one way.
    const int needed = (widest(widths) + theme.px(4)) * 5 / 4;
    fit.room = needed <= fit.stride * cell ? needed : 0;
  }
  for (const int width : widths) {
    const bool turned = width > fit.room;
    fit.extent = std::max(fit.extent, (turned ? width : height) + theme.px(kLabelGap));
    fit.overhang = std::max(fit.overhang, ((turned ? height : width) - cell) / 2 + 1);
  }
  return fit;
}

void draw_row_labels(Canvas& canvas, const EdgeLabels& labels, int x, int y, int cell,
                     const Theme& theme) {
  const auto count = static_cast<int>(labels.texts.size());
  for (int i = 0; i < count; i += labels.stride) {
    const int center = y + i * cell + cell / 2;
    if (labels.stride > 1) {
      canvas.fill_rect(x - theme.px(kTickLength), center, theme.px(kTickLength), theme.scale(),
                       palette::frame);
    }
    theme.text(canvas, x - theme.px(kLabelGap), center - theme.line_height(labels.style) / 2,
               labels.texts[static_cast<std::size_t>(i)], labels.style, Align::right);
  }
}

void draw_column_labels(Canvas& canvas, const EdgeLabels& labels, int x, int y, int cell,
                        const Theme& theme) {
  const auto count = static_cast<int>(labels.texts.size());
  for (int i = 0; i < count; i += labels.stride) {
    const int center = x + i * cell + cell / 2;
    const std::string& text = labels.texts[static_cast<std::size_t>(i)];
    if (labels.stride > 1) {
      canvas.fill_rect(center, y, theme.scale(), theme.px(kTickLength), palette::frame);
    }
    if (theme.text_width(text, labels.style) > labels.room) {
      theme.text_up(canvas, center - theme.line_height(labels.style) / 2, y + theme.px(kLabelGap),
                    text, labels.style, Align::right);
    } else {
      theme.text(canvas, center, y + theme.px(kLabelGap) - theme.px(2), text, labels.style,
                 Align::center);
    }
  }
}

int cell_pixels(std::int64_t count, double target, double stretch, const Theme& theme) {
  const auto share = [&](double units) {
    return static_cast<int>(std::min<std::int64_t>(theme.px(units) / count, theme.px(56)));
  };
  return std::max({share(target), std::min(theme.px(14), share(stretch)), 1});
}

}  // namespace lookback::plot
