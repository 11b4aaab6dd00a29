// Which code points leave no mark on paper, and what stands for them.
#include "tools/text/labels.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/text/utf8.h"

namespace lookback::text {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Controls, spaces other than U+0020, zero-width and direction marks, combining marks, variation
// selectors, private use, tags. Not every combining mark of Unicode: those that text really holds.
constexpr std::array<Range, 25> kInvisible = {
    {{0x0000, 0x001f}, {0x007f, 0x00a0}, {0x00ad, 0x00ad}, {0x0300, 0x036f}, {0x0483, 0x0489},
     {0x0591, 0x05bd}, {0x0610, 0x061c}, {0x064b, 0x065f}, {0x0670, 0x0670}, {0x06d6, 0x06dd},
     {0x093a, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},
     {0x180b, 0x180e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x2000, 0x200f}, {0x2028, 0x202f},
     {0x205f, 0x206f}, {0x20d0, 0x20ff}, {0xe000, 0xf8ff}, {0xfe00, 0xfe2f}, {0xe0000, 0x10ffff}}};

bool is_invisible(char32_t c) {
  if (c == 0x3000 || c == 0xfeff || (c >= 0x3099 && c <= 0x309a)) return true;
  return std::any_of(kInvisible.begin(), kInvisible.end(),
                     [c](const Range& range) { return range.first <= c && c <= range.last; });
}

}  // namespace

std::string code_point_name(char32_t code_point) {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "U+%04X", static_cast<unsigned>(code_point));
  return name.data();
}

std::string token_label(char32_t code_point) {
  switch (code_point) {
    case U'\n':
      return "↵";
    case U' ':
      return "␣";
    case U'\t':
      return "⇥";
    case U'\r':
      return "⇤";
    default:
      return is_invisible(code_point) ? code_point_name(code_point) : encode_utf8(code_point);
  }
}

std::vector<std::string> token_labels(const std::vector<char32_t>& code_points) {
  std::vector<std::string> labels;
  labels.reserve(code_points.size());
  for (const char32_t code_point : code_points) labels.push_back(token_label(code_point));
  return labels;
}

std::string one_line(std::string_view bytes, std::size_t max_code_points) {
  const std::vector<char32_t> code_points = decode_utf8_or_replace(bytes);
  std::string line;
  for (std::size_t i = 0; i < code_points.size(); ++i) {
    if (i == max_code_points) return line + "…";
    const char32_t c = code_points[i];
    const bool combining = c >= 0x0300 && c <= 0x036f && i > 0;  // part of the letter before it
    if (c == U' ' || combining || !is_invisible(c)) {
      line += encode_utf8(c);
    } else {
      const std::string label = token_label(c);
      line += label.starts_with("U+") ? "[" + label + "]" : label;
    }
  }
  return line;
}

}  // namespace lookback::text
