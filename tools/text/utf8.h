// Text as tokens: one token per Unicode code point. Nothing is normalised or dropped, so NUL, CR
// and every other code point stays a token of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lookback::text {

// The code points of `bytes`. A byte order mark at the very start is skipped: it is not text.
// Throws std::invalid_argument, `invalid UTF-8 at byte 17`, counted from 0.
std::vector<char32_t> decode_utf8(std::string_view bytes);

// The same, but every invalid byte becomes U+FFFD: for labels and titles, which must never fail.
std::vector<char32_t> decode_utf8_or_replace(std::string_view bytes);

// REQUIRES: valid code points (no surrogates, at most U+10FFFF).
std::string encode_utf8(char32_t code_point);
std::string encode_utf8(const std::vector<char32_t>& code_points);

}  // namespace lookback::text
