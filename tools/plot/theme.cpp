// Text measuring, wrapping and drawing in one look.
#include "tools/plot/theme.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "tools/text/utf8.h"

namespace lookback::plot {
namespace {

// How far left of its anchor a text of `width` begins.
int lead(Align align, int width) {
  if (align == Align::left) return 0;
  return align == Align::center ? width / 2 : width;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::shared_ptr<const Fonts> default_fonts() {
  static const auto fonts = std::make_shared<const Fonts>(Fonts{Font::find("DejaVuSans.ttf"),
                                                                Font::find("DejaVuSans-Bold.ttf"),
                                                                Font::find("DejaVuSansMono.ttf")});
  return fonts;
}

Theme::Theme(int scale, std::shared_ptr<const Fonts> fonts)
    : scale_(scale), fonts_(std::move(fonts)) {
  if (scale < 1 || scale > 8) {
    throw std::invalid_argument("[plot] scale must be 1 ... 8; got " + std::to_string(scale));
  }
}

int Theme::px(double units) const { return static_cast<int>(std::lround(units * scale_)); }

const Font& Theme::font(Face face) const {
  if (face == Face::regular) return fonts_->regular;
  return face == Face::bold ? fonts_->bold : fonts_->mono;
}

int Theme::text_width(std::string_view text, const TextStyle& style) const {
  const Font& face = font(style.face);
  return static_cast<int>(std::ceil(face.width(face.drawable(text), style.size * scale_)));
}

int Theme::line_height(const TextStyle& style) const {
  const Font& face = font(style.face);
  const double size = style.size * scale_;
  return static_cast<int>(std::ceil(face.ascent(size) + face.descent(size)));
}

int Theme::lines_height(const std::vector<std::string>& lines, const TextStyle& style) const {
  return static_cast<int>(lines.size()) * line_height(style);
}

std::vector<std::string> Theme::wrap(std::string_view text, const TextStyle& style,
                                     int max_width) const {
  std::vector<std::string> lines;
  if (text.empty()) return lines;
  const auto fits = [&](const std::string& s) { return text_width(s, style) <= max_width; };
  for (const std::string& paragraph : split(font(style.face).drawable(text, true), '\n')) {
    std::string line;
    bool line_is_open = false;
    for (const std::string& word : split(paragraph, ' ')) {
      std::string longer = line;
      longer.append(1, ' ').append(word);
      if (line_is_open && fits(longer)) {
        line = std::move(longer);
        continue;
      }
      if (line_is_open) lines.push_back(line);
      line = word;
      line_is_open = true;
      if (fits(word)) continue;
      line.clear();  // a word wider than the line: letter by letter
      for (const char32_t letter : text::decode_utf8_or_replace(word)) {
        const std::string next = text::encode_utf8(letter);
        if (!line.empty() && !fits(line + next)) {
          lines.push_back(line);
          line.clear();
        }
        line += next;
      }
    }
    lines.push_back(line);
  }
  return lines;
}

void Theme::text(Canvas& canvas, int x, int y, std::string_view text, const TextStyle& style,
                 Align align) const {
  const Font& face = font(style.face);
  const double size = style.size * scale_;
  const int edge = Font::bleed(size);
  canvas.stamp(face.render(face.drawable(text), size),
               x - lead(align, text_width(text, style)) - edge, y - edge, style.color);
}

void Theme::text_up(Canvas& canvas, int x, int y, std::string_view text, const TextStyle& style,
                    Align align) const {
  const Font& face = font(style.face);
  const double size = style.size * scale_;
  const int edge = Font::bleed(size);
  const Mask mask = turned_left(face.render(face.drawable(text), size));
  const int bottom = y + lead(align, text_width(text, style)) + edge;
  canvas.stamp(mask, x - edge, bottom - mask.height, style.color);
}

int Theme::lines(Canvas& canvas, int x, int y, const std::vector<std::string>& lines,
                 const TextStyle& style, Align align) const {
  for (const std::string& line : lines) {
    text(canvas, x, y, line, style, align);
    y += line_height(style);
  }
  return y;
}

}  // namespace lookback::plot
