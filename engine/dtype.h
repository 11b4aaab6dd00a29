// The four element types, and the way from a DType to a C++ type.
#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

#include "engine/error.h"

namespace lookback {

enum class DType : uint8_t { f32, f64, i64, boolean };

// A boolean element is one byte, 0 or 1.
using Boolean = uint8_t;

constexpr const char* name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::i64:
      return "i64";
    case DType::boolean:
      return "boolean";
  }
  return "?";
}

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

constexpr int64_t element_size(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::i64:
      return 8;
    case DType::boolean:
      return 1;
  }
  return 0;
}

constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

// The DType of a stored C++ type: float, double, int64_t, Boolean.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, Boolean>) return DType::boolean;
}

// A value as a T. Differs from static_cast only where that is undefined: as an integer, NaN is 0
// and a number beyond the range is the nearest in it.
template <class T, class From>
constexpr T convert(From value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != From{};
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
    // As From, the largest T may round up to one more: hence >=.
    if (value >= static_cast<From>(std::numeric_limits<T>::max()))
      return std::numeric_limits<T>::max();
    if (value <= static_cast<From>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    return value == value ? static_cast<T>(value) : T{0};
  } else {
    return static_cast<T>(value);
  }
}

// visit(dtype, f): calls f(T{}) for the C++ type of dtype, and returns what f returns.
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::i64:
      return f(int64_t{});
    case DType::boolean:
      break;
  }
  return f(Boolean{});
}

// The same for ops that are defined on numbers only, and on floating-point numbers only.
template <class F>
decltype(auto) visit_number(const char* op, DType dtype, F&& f) {
  check(dtype != DType::boolean, op, "needs numbers; got boolean");
  if (dtype == DType::f32) return f(float{});
  if (dtype == DType::f64) return f(double{});
  return f(int64_t{});
}

template <class F>
decltype(auto) visit_float(const char* op, DType dtype, F&& f) {
  check(is_floating(dtype), op, "needs f32 or f64; got ", dtype);
  if (dtype == DType::f32) return f(float{});
  return f(double{});
}

}  // namespace lookback
