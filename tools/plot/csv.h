// Numbers beside the pictures: CSV with full precision.
#pragma once

#include <string>
#include <vector>

namespace lookback::plot {

// The shortest decimal that reads back as the same bits (nan, inf, -inf, -0 included).
std::string exact(float value);
std::string exact(double value);

// `header` (may be empty) and rows. Fields are quoted where they must be.
std::string csv_text(const std::vector<std::string>& header,
                     const std::vector<std::vector<std::string>>& rows);

}  // namespace lookback::plot
