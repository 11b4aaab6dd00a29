// Numbers beside the pictures: CSV with full precision, written whole or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lookback::plot {

// The shortest decimal that reads back as the same bits (nan, inf, -inf, -0 included).
std::string exact(float value);
std::string exact(double value);

// Labels are optional: with column labels a first line holds them, with row labels a first column.
struct CsvLabels {
  std::vector<std::string> rows{};
  std::vector<std::string> columns{};
};

// A row-major matrix, one line per row. Throws std::invalid_argument when sizes disagree,
// std::runtime_error as text::write_file does.
void write_csv(const std::string& path, std::span<const float> values, std::int64_t rows,
               std::int64_t columns, const CsvLabels& labels = {});
void write_csv(const std::string& path, std::span<const double> values, std::int64_t rows,
               std::int64_t columns, const CsvLabels& labels = {});

// Any table of text: `header` (may be empty) and rows. Fields are quoted where they must be.
void write_csv_table(const std::string& path, const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lookback::plot
