// What tests say about tensors: close, equal to the bit, or refused with a certain message. All are
// functions; EXPECT_TRUE prints their explanation when they fail:
//
//   EXPECT_TRUE(all_close(y, expected, 1e-6));
//   EXPECT_TRUE(throws<std::invalid_argument>([&] { matmul(a, b); }, {"[matmul]", "[2, 3]"}));
//
// NaN is close to nothing, not even to NaN: a comparison reads !(difference <= bound). A test that
// wants NaN says so with all_nan(). No knowledge of any op belongs here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace lookback::test {

// Same shape, same dtype, and |actual - expected| <= tolerance * max(1, |expected|) everywhere.
// Equal infinities are close.
testing::AssertionResult all_close(const Tensor& actual, const Tensor& expected, double tolerance);

// This shape and these elements, in row-major order, within tolerance as above; any dtype.
testing::AssertionResult has_values(const Tensor& actual, const Shape& shape,
                                    const std::vector<double>& expected, double tolerance = 0);

// Same shape, same dtype, same bits: 0 differs from -0, and NaN equals a NaN of the same bits.
testing::AssertionResult same_bits(const Tensor& actual, const Tensor& expected);

// Every element is NaN, and there is at least one.
testing::AssertionResult all_nan(const Tensor& actual);

// Every element is 0 (or -0); true of an empty tensor.
testing::AssertionResult all_zero(const Tensor& actual);

// The same elements in the same memory.
testing::AssertionResult shares_storage(const Tensor& a, const Tensor& b);

// True if text contains every part.
testing::AssertionResult contains_all(const std::string& text,
                                      const std::vector<std::string>& parts);

// Calls f, which must throw an Error whose message contains every part.
template <class Error, class F>
testing::AssertionResult throws(const F& f, const std::vector<std::string>& parts) {
  try {
    f();
  } catch (const Error& error) {
    return contains_all(error.what(), parts);
  } catch (const std::exception& other) {
    return testing::AssertionFailure() << "threw another type, saying: " << other.what();
  }
  return testing::AssertionFailure() << "did not throw";
}

// The same as gmock matchers: EXPECT_THAT(y, close_to(expected, 1e-6)).
class TensorMatcher {
 public:
  using is_gtest_matcher = void;
  using Compare = std::function<testing::AssertionResult(const Tensor&)>;
  TensorMatcher(Compare compare, std::string description)
      : compare_(std::move(compare)), description_(std::move(description)) {}
  bool MatchAndExplain(const Tensor& actual, std::ostream* why) const;
  void DescribeTo(std::ostream* out) const { *out << "is " << description_; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not " << description_; }

 private:
  Compare compare_;
  std::string description_;
};

testing::Matcher<const Tensor&> close_to(const Tensor& expected, double tolerance);
testing::Matcher<const Tensor&> same_bits_as(const Tensor& expected);

}  // namespace lookback::test
