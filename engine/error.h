// Errors, by whose fault they are. The user's fault is an exception, thrown by check() or
// check_index() before anything is changed; ours is an assertion.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

#ifdef __FAST_MATH__
#error "lookback needs IEEE infinities and NaN: a masked score is -infinity. Drop -ffast-math."
#endif

namespace lookback {
namespace detail {

// "[matmul] inner dimensions must match; got [2, 3] and [4, 5]"
template <class... Parts>
std::string error_text(const char* op, const Parts&... parts) {
  std::ostringstream text;
  text << '[' << op << "] ";
  (text << ... << parts);
  return text.str();
}

template <class Error, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const char* op, const Parts&... parts) {
  throw Error(error_text(op, parts...));
}

}  // namespace detail

// Throws std::invalid_argument "[op] parts..." unless ok: bad shapes, dtypes, sizes, states.
template <class... Parts>
inline void check(bool ok, const char* op, const Parts&... parts) {
  if (!ok) [[unlikely]] {
    detail::fail<std::invalid_argument>(op, parts...);
  }
}

// Throws std::out_of_range "[op] parts..." unless ok: indices and dimensions out of range.
template <class... Parts>
inline void check_index(bool ok, const char* op, const Parts&... parts) {
  if (!ok) [[unlikely]] {
    detail::fail<std::out_of_range>(op, parts...);
  }
}

}  // namespace lookback
