// CSV as RFC 4180 has it, with \n as line end; numbers by std::to_chars (shortest round trip).
#include "tools/plot/csv.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "tools/text/files.h"

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

void check_labels(const char* what, std::size_t labels, std::int64_t expected) {
  if (labels != 0 && labels != static_cast<std::size_t>(expected)) {
    throw std::invalid_argument("[csv] " + std::string(what) + " labels must number 0 or " +
                                std::to_string(expected) + "; got " + std::to_string(labels));
  }
}

template <typename Number>
void write_matrix(const std::string& path, std::span<const Number> values, std::int64_t rows,
                  std::int64_t columns, const CsvLabels& labels) {
  if (rows < 0 || columns < 0 || values.size() != static_cast<std::size_t>(rows * columns)) {
    throw std::invalid_argument("[csv] values must fill the matrix; got " +
                                std::to_string(values.size()) + " for [" + std::to_string(rows) +
                                ", " + std::to_string(columns) + "]");
  }
  check_labels("row", labels.rows.size(), rows);
  check_labels("column", labels.columns.size(), columns);
  std::string bytes;
  if (!labels.columns.empty()) {
    bool first = labels.rows.empty();  // else an empty corner
    for (const std::string& label : labels.columns) {
      if (!first) bytes += ',';
      first = false;
      bytes += field(label);
    }
    bytes += '\n';
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!labels.rows.empty()) bytes += field(labels.rows[static_cast<std::size_t>(row)]) + ',';
    for (std::int64_t column = 0; column < columns; ++column) {
      if (column > 0) bytes += ',';
      bytes += shortest(values[static_cast<std::size_t>(row * columns + column)]);
    }
    bytes += '\n';
  }
  text::write_file(path, bytes);
}

}  // namespace

std::string exact(float value) { return shortest(value); }
std::string exact(double value) { return shortest(value); }

void write_csv(const std::string& path, std::span<const float> values, std::int64_t rows,
               std::int64_t columns, const CsvLabels& labels) {
  write_matrix(path, values, rows, columns, labels);
}

void write_csv(const std::string& path, std::span<const double> values, std::int64_t rows,
               std::int64_t columns, const CsvLabels& labels) {
  write_matrix(path, values, rows, columns, labels);
}

void write_csv_table(const std::string& path, const std::vector<std::string>& header,
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
  text::write_file(path, bytes);
}

}  // namespace lookback::plot
