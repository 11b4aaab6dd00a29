// How every figure looks: typefaces, sizes, and the scale from layout units to pixels. Draws text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/plot/canvas.h"
#include "tools/plot/font.h"

namespace lookback::plot {

enum class Face { regular, bold, mono };
enum class Align { left, center, right };

struct TextStyle {
  Face face = Face::regular;
  double size = 12.0;  // layout units, the em square's height
  Rgb color = palette::ink;
};

struct Fonts {
  Font regular = Font::builtin();
  Font bold = Font::builtin();
  Font mono = Font::builtin();
};

// DejaVu Sans, its bold and its mono face; the built-in letters where they are not installed.
std::shared_ptr<const Fonts> default_fonts();

// Lengths in figures are layout units; `px` turns them into pixels. Immutable, cheap to copy.
class Theme {
 public:
  // `scale` pixels per layout unit: 2 suits slides and dense screens.
  explicit Theme(int scale = 2, std::shared_ptr<const Fonts> fonts = default_fonts());

  int scale() const { return scale_; }
  int px(double units) const;

  static TextStyle title_style() { return {Face::bold, 17.0, palette::ink}; }
  static TextStyle subtitle_style() { return {Face::regular, 12.5, palette::muted}; }
  static TextStyle panel_style() { return {Face::bold, 13.0, palette::ink}; }
  static TextStyle axis_style() { return {Face::regular, 12.5, palette::muted}; }
  static TextStyle tick_style() { return {Face::regular, 11.5, palette::ink}; }
  static TextStyle token_style() { return {Face::mono, 12.0, palette::ink}; }
  static TextStyle note_style() { return {Face::regular, 11.5, palette::muted}; }

  // Pixels. `text` may be any bytes: it is made drawable first. One line each.
  int text_width(std::string_view text, const TextStyle& style) const;
  int line_height(const TextStyle& style) const;
  int lines_height(const std::vector<std::string>& lines, const TextStyle& style) const;

  // Lines no wider than `max_width` pixels, broken at spaces, inside a word only where the word
  // alone is too wide; `\n` starts a new line. No text gives no lines.
  std::vector<std::string> wrap(std::string_view text, const TextStyle& style, int max_width) const;

  // One line whose box has its top at y and its left edge, centre or right edge at x.
  void text(Canvas& canvas, int x, int y, std::string_view text, const TextStyle& style,
            Align align = Align::left) const;
  // The same reading upwards: the box has its left edge at x; its bottom (Align::left), centre or
  // top (Align::right) is at y.
  void text_up(Canvas& canvas, int x, int y, std::string_view text, const TextStyle& style,
               Align align = Align::left) const;
  // Lines below each other from y on; returns the y below the last.
  int lines(Canvas& canvas, int x, int y, const std::vector<std::string>& lines,
            const TextStyle& style, Align align = Align::left) const;

  const Font& font(Face face) const;

 private:
  int scale_;
  std::shared_ptr<const Fonts> fonts_;
};

}  // namespace lookback::plot
