// CSV as RFC 4180 has it, with \n as line end; numbers by std::to_chars (shortest round trip).
#include "tools/plot/csv.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace lookback::plot {
namespace {

template <typename Number>
std::string shortest(Number value) {
  if (std::isnan(value)) return "nan";  // to_chars would show the sign of a NaN
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

std::string field(std::string_view value) {
  const bool padded = !value.empty() && (value.front() == ' ' || value.back() == ' ');
  if (!padded && value.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(value);
  }
  std::string quoted(1, '"');
  for (const char c : value) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

}  // namespace

std::string exact(float value) { return shortest(value); }
std::string exact(double value) { return shortest(value); }

std::string csv_text(const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows) {
  std::string bytes;
  const auto append = [&bytes](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) bytes += ',';
      bytes += field(row[i]);
    }
    bytes += '\n';
  };
  if (!header.empty()) append(header);
  for (const auto& row : rows) append(row);
  return bytes;
}

}  // namespace lookback::plot
