#include "tests/support/matchers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace lookback::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

std::string position(const Shape& shape, int64_t index) {
  Shape coordinates = shape;
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {
    coordinates[d] = index % shape[d];
    index /= shape[d];
  }
  std::ostringstream text;
  text << coordinates;
  return text.str();
}

bool is_close(double actual, double expected, double tolerance) {
  if (actual == expected) return true;  // also equal infinities
  if (std::isinf(expected)) return false;
  return std::abs(actual - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

AssertionResult same_form(const Tensor& actual, const Tensor& expected) {
  if (!actual.defined() || !expected.defined()) {
    return AssertionFailure() << "undefined tensor: actual " << actual.defined() << ", expected "
                              << expected.defined();
  }
  if (actual.shape() != expected.shape() || actual.dtype() != expected.dtype()) {
    return AssertionFailure() << "shape " << actual.shape() << ' ' << actual.dtype()
                              << ", expected " << expected.shape() << ' ' << expected.dtype();
  }
  return AssertionSuccess();
}

AssertionResult close_values(const std::vector<double>& actual, const std::vector<double>& expected,
                             const Shape& shape, double tolerance) {
  int64_t bad = 0;
  std::ostringstream text;
  text.precision(17);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (is_close(actual[i], expected[i], tolerance)) continue;
    if (bad++ > 0) continue;
    text << "first at " << position(shape, static_cast<int64_t>(i)) << ": " << actual[i]
         << ", expected " << expected[i] << ", difference " << std::abs(actual[i] - expected[i])
         << ", tolerance " << tolerance;
  }
  if (bad == 0) return AssertionSuccess();
  return AssertionFailure() << bad << " of " << expected.size() << " elements differ, "
                            << text.str();
}

}  // namespace

AssertionResult all_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (AssertionResult form = same_form(actual, expected); !form) return form;
  return close_values(actual.detach().to_vector<double>(), expected.detach().to_vector<double>(),
                      expected.shape(), tolerance);
}

AssertionResult has_values(const Tensor& actual, const Shape& shape,
                           const std::vector<double>& expected, double tolerance) {
  if (!actual.defined()) return AssertionFailure() << "undefined tensor";
  if (actual.shape() != shape) {
    return AssertionFailure() << "shape " << actual.shape() << ", expected " << shape;
  }
  if (static_cast<int64_t>(expected.size()) != shape.numel()) {
    return AssertionFailure() << expected.size() << " expected values do not fill " << shape;
  }
  return close_values(actual.detach().to_vector<double>(), expected, shape, tolerance);
}

AssertionResult same_bits(const Tensor& actual, const Tensor& expected) {
  if (AssertionResult form = same_form(actual, expected); !form) return form;
  const Tensor a = actual.detach().contiguous();
  const Tensor b = expected.detach().contiguous();
  const auto size = static_cast<size_t>(element_size(a.dtype()));
  int64_t bad = 0;
  int64_t first = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    const size_t offset = static_cast<size_t>(i) * size;
    if (std::memcmp(a.impl().data + offset, b.impl().data + offset, size) == 0) continue;
    if (bad++ == 0) first = i;
  }
  if (bad == 0) return AssertionSuccess();
  const auto index = static_cast<size_t>(first);
  std::ostringstream text;
  text.precision(17);
  text << a.to_vector<double>()[index] << ", expected " << b.to_vector<double>()[index];
  return AssertionFailure() << bad << " of " << a.numel() << " elements differ in bits, first at "
                            << position(a.shape(), first) << ": " << text.str();
}

AssertionResult all_nan(const Tensor& actual) {
  if (!actual.defined() || actual.numel() == 0) return AssertionFailure() << "no elements";
  const std::vector<double> values = actual.detach().to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    return AssertionFailure() << "at " << position(actual.shape(), static_cast<int64_t>(i)) << ": "
                              << values[i] << ", expected NaN";
  }
  return AssertionSuccess();
}

AssertionResult all_zero(const Tensor& actual) {
  if (!actual.defined()) return AssertionFailure() << "undefined tensor";
  const std::vector<double> zeros(static_cast<size_t>(actual.numel()), 0.0);
  return close_values(actual.detach().to_vector<double>(), zeros, actual.shape(), 0);
}

AssertionResult shares_storage(const Tensor& a, const Tensor& b) {
  if (a.impl().storage == b.impl().storage) return AssertionSuccess();
  return AssertionFailure() << "tensors of shapes " << a.shape() << " and " << b.shape()
                            << " are separate copies";
}

AssertionResult contains_all(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) {
      return AssertionFailure() << "\"" << part << "\" is not in: " << text;
    }
  }
  return AssertionSuccess();
}

bool TensorMatcher::MatchAndExplain(const Tensor& actual, std::ostream* why) const {
  const AssertionResult result = compare_(actual);
  if (!result && why != nullptr) *why << "where " << result.message();
  return result;
}

testing::Matcher<const Tensor&> close_to(const Tensor& expected, double tolerance) {
  std::ostringstream text;
  text << "within " << tolerance << " of " << expected;
  return TensorMatcher([=](const Tensor& x) { return all_close(x, expected, tolerance); },
                       text.str());
}

testing::Matcher<const Tensor&> same_bits_as(const Tensor& expected) {
  std::ostringstream text;
  text << "the bits of " << expected;
  return TensorMatcher([=](const Tensor& x) { return same_bits(x, expected); }, text.str());
}

}  // namespace lookback::test
