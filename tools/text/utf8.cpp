// UTF-8 in and out; the validation is utfcpp's.
#include "tools/text/utf8.h"

#include <utf8.h>

#include <iterator>
#include <stdexcept>

namespace lookback::text {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

std::vector<char32_t> decode_utf8(std::string_view bytes) {
  const auto bad = utf8::find_invalid(bytes.begin(), bytes.end());
  if (bad != bytes.end()) {
    throw std::invalid_argument("invalid UTF-8 at byte " + std::to_string(bad - bytes.begin()));
  }
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  std::vector<char32_t> code_points;
  code_points.reserve(bytes.size());
  for (auto at = bytes.begin(); at != bytes.end();) {
    code_points.push_back(static_cast<char32_t>(utf8::unchecked::next(at)));
  }
  return code_points;
}

std::vector<char32_t> decode_utf8_or_replace(std::string_view bytes) {
  std::string repaired;
  utf8::replace_invalid(bytes.begin(), bytes.end(), std::back_inserter(repaired), 0xfffd);
  return decode_utf8(repaired);
}

std::string encode_utf8(char32_t code_point) {
  std::string bytes;
  utf8::append(code_point, std::back_inserter(bytes));
  return bytes;
}

std::string encode_utf8(const std::vector<char32_t>& code_points) {
  std::string bytes;
  for (const char32_t code_point : code_points) {
    utf8::append(code_point, std::back_inserter(bytes));
  }
  return bytes;
}

}  // namespace lookback::text
