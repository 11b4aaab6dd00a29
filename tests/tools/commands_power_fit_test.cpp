// The exponent of a power law, and how sure it is.
#include "tools/commands/power_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lookback::tools {
namespace {

TEST(PowerFit, FindsTheExponentOfAPowerLaw) {
  const std::vector<double> x = {2, 3, 5, 9};
  std::vector<double> y;
  for (const double value : x) y.push_back(7 * std::pow(value, 1.5));
  const PowerFit fit = fit_power(x, y);
  EXPECT_NEAR(fit.exponent, 1.5, 1e-12);
  EXPECT_NEAR(fit.half_interval, 0, 1e-12);
}

// By hand, in logarithms to the base e: x 0, 1, 2 and y 0, 1 + 0.3, 2. The slope is 1, the
// residuals -0.1, 0.2, -0.1; their squares sum to 0.06, on one degree of freedom, over sxx = 2.
TEST(PowerFit, GivesTheIntervalOfStudentsT) {
  const double e = std::exp(1);
  const PowerFit fit = fit_power({1, e, e * e}, {1, std::exp(1.3), e * e});
  EXPECT_NEAR(fit.exponent, 1, 1e-12);
  EXPECT_NEAR(fit.half_interval, 12.71 * std::sqrt(0.06 / 2), 1e-9);
}

}  // namespace
}  // namespace lookback::tools
