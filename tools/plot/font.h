// One typeface: which code points it has, how wide a string is, and its pixels. Knows no canvas.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tools/plot/canvas.h"

namespace lookback::plot {

// Sizes are pixels (the em square's height). Strings are UTF-8. Immutable: safe between threads.
class Font {
 public:
  // The first of the well-known font folders that holds `file_name`, else the built-in letters.
  static Font find(const std::string& file_name);
  // stb_easy_font: coarse, ASCII only, always there.
  static Font builtin();

  bool is_builtin() const { return face_ == nullptr; }
  bool has(char32_t code_point) const;

  // `utf8` as this face can draw it: what it lacks becomes a plain substitute (10⁻³ -> 10^-3) or
  // its name, U+1F600 ([U+1F600] inside a longer text); newlines become `↵` unless kept. Never
  // fails, whatever the bytes.
  std::string drawable(std::string_view utf8, bool keep_newlines = false) const;

  // The rest expects drawable text without newlines.
  double width(std::string_view text, double size) const;
  double ascent(double size) const;   // baseline to the top of the line
  double descent(double size) const;  // baseline to the bottom of the line, positive
  // The line of text. The pen starts `bleed(size)` pixels right of the mask's left edge and the
  // line's top lies as far below its upper edge, so that no overhang is lost.
  Mask render(std::string_view text, double size) const;
  static int bleed(double size);

 private:
  struct Face;
  Mask blank_line(std::string_view text, double size) const;
  Mask render_builtin(std::string_view text, double size) const;

  std::shared_ptr<const Face> face_;  // null: the built-in letters
};

}  // namespace lookback::plot
