// How tokens look in pictures, tables and messages: one visible, unambiguous label per code point.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::text {

// U+00E9, U+1F600: at least four hexadecimal digits.
std::string code_point_name(char32_t code_point);

// The code point itself where it can be seen; `↵` newline, `␣` space, `⇥` tab, `⇤` CR; other
// controls, odd spaces, invisible and combining marks as their U+ name.
std::string token_label(char32_t code_point);
std::vector<std::string> token_labels(const std::vector<char32_t>& code_points);

// A text on one line, for titles and messages: spaces stay, other invisible code points get their
// label, names in brackets. Longer than `max_code_points`: cut there and `…` appended.
std::string one_line(std::string_view bytes, std::size_t max_code_points = 80);

}  // namespace lookback::text
