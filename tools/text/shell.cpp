// POSIX quoting, and $'...' for what cannot be seen.
#include "tools/text/shell.h"

#include <array>
#include <cstdio>

#include "tools/text/labels.h"
#include "tools/text/utf8.h"

namespace lookback::text {
namespace {

// Octal: unlike \x it ends by itself, whatever follows.
void append_octal(std::string& word, std::string_view bytes) {
  for (const char byte : bytes) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "\\%03o", static_cast<unsigned char>(byte));
    word += digits.data();
  }
}

// A space has a label of its own, and is seen all the same between quotes.
bool is_visible(char32_t c, const std::function<bool(char32_t)>& visible) {
  if (c == U' ') return true;
  return token_label(c) == encode_utf8(c) && (c < 0x80 || !visible || visible(c));
}

std::string dollar_quoted(std::string_view bytes, const std::vector<char32_t>& code_points,
                          const std::function<bool(char32_t)>& visible) {
  std::string word = "$'";
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // no code point of its own
  size_t at = bytes.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  append_octal(word, bytes.substr(0, at));
  for (const char32_t c : code_points) {
    const std::string symbol = encode_utf8(c);
    // Invalid bytes were decoded to U+FFFD: they, and what follows, are taken as they are.
    if (bytes.substr(at, symbol.size()) != symbol) break;
    at += symbol.size();
    if (c == U'\n') {
      word += "\\n";
    } else if (c == U'\t') {
      word += "\\t";
    } else if (c == U'\'' || c == U'\\') {
      word += "\\" + symbol;
    } else if (is_visible(c, visible)) {
      word += symbol;
    } else {
      append_octal(word, symbol);
    }
  }
  append_octal(word, bytes.substr(at));
  return word + "'";
}

}  // namespace

std::string shell_word(std::string_view argument, const std::function<bool(char32_t)>& visible) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(argument);
  }
  const std::vector<char32_t> code_points = decode_utf8_or_replace(argument);
  bool plain = encode_utf8(code_points) == argument;
  for (const char32_t c : code_points) plain = plain && is_visible(c, visible);
  if (!plain) return dollar_quoted(argument, code_points, visible);
  std::string word = "'";
  for (const char c : argument) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace lookback::text
