// Numbers beside the pictures: CSV with full precision, written whole or not at all.
#pragma once

#include <string>
#include <vector>

namespace lookback::plot {

// The shortest decimal that reads back as the same bits (nan, inf, -inf, -0 included).
std::string exact(float value);
std::string exact(double value);

// `header` (may be empty) and rows. Fields are quoted where they must be. Throws
// std::runtime_error as text::write_file does.
void write_csv_table(const std::string& path, const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lookback::plot
