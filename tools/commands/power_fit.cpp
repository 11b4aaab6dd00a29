// The interval is Student's t times the slope's standard error.
#include "tools/commands/power_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace lookback::tools {

PowerFit fit_power(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mx = 0;
  double my = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mx += std::log(x[i]) / n;
    my += std::log(y[i]) / n;
  }
  double sxx = 0;
  double sxy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sxx += (std::log(x[i]) - mx) * (std::log(x[i]) - mx);
    sxy += (std::log(x[i]) - mx) * (std::log(y[i]) - my);
  }
  const double slope = sxy / sxx;
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double r = std::log(y[i]) - my - slope * (std::log(x[i]) - mx);
    squares += r * r;
  }
  // Student's t at 97.5 % for n - 2 degrees of freedom.
  static constexpr double kT[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36,
                                  2.31,  2.26, 2.23, 2.20, 2.18, 2.16};
  const size_t freedom = std::min(x.size() - 2, std::size(kT));
  return {slope, kT[freedom - 1] * std::sqrt(squares / (n - 2) / sxx)};
}

}  // namespace lookback::tools
