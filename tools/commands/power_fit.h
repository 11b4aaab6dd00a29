// How a cost grows: a straight line through the logarithms.
#pragma once

#include <vector>

namespace lookback::tools {

struct PowerFit {
  double exponent;
  double half_interval;  // 95 %, from the residuals of the straight line
};

// log y = a + exponent log x, by least squares. REQUIRES: at least 3 points, all positive.
PowerFit fit_power(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace lookback::tools
