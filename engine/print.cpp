// The printed form of a tensor: nested rows as PyTorch prints them, then shape and dtype.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "engine/ops.h"
#include "engine/tensor.h"

namespace lookback {
namespace {

// Above this many elements, only the edges of each dimension are shown.
constexpr int64_t kSummariseAbove = 1000;
constexpr int64_t kEdge = 3;

// How all numbers of one tensor are written: alike, and as short as shows four digits.
struct Format {
  bool boolean = false;
  bool integer = false;  // integers, or floats that all are
  bool scientific = false;
  int width = 0;

  std::string text(double value) const {
    if (boolean) return value != 0 ? "true" : "false";
    std::ostringstream out;
    if (!std::isfinite(value)) {
      out << (std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    } else if (scientific) {
      out << std::scientific << std::setprecision(4) << value;
    } else {
      out << std::fixed << std::setprecision(integer ? 0 : 4) << value;
    }
    return out.str();
  }
};

Format choose_format(const std::vector<double>& values, DType dtype) {
  Format format;
  format.boolean = dtype == DType::boolean;
  format.integer = true;
  double largest = 0;
  double smallest = INFINITY;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    if (v != std::trunc(v)) format.integer = false;
    largest = std::max(largest, std::abs(v));
    if (v != 0) smallest = std::min(smallest, std::abs(v));
  }
  const bool is_float = is_floating(dtype);
  format.scientific =
      is_float &&
      (largest >= 1e8 || (!format.integer && (smallest < 1e-4 || largest / smallest > 1e6)));
  for (const double v : values) {
    format.width = std::max(format.width, static_cast<int>(format.text(v).size()));
  }
  return format;
}

void print_level(std::ostream& out, const Tensor& x, const Format& format, bool summarise,
                 int indent) {
  if (x.dim() == 0) {
    out << std::setw(format.width) << format.text(x.item<double>());
    return;
  }
  out << '[';
  const int64_t n = x.size(0);
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) {
      out << ',';
      if (x.dim() == 1) {
        out << ' ';
      } else {
        for (int64_t line = 1; line < x.dim(); ++line) out << '\n';
        out << std::string(static_cast<size_t>(indent) + 1, ' ');
      }
    }
    if (summarise && n > 2 * kEdge && i == kEdge) {
      out << "...";
      i = n - kEdge - 1;
      continue;
    }
    print_level(out, select(x, 0, i), format, summarise, indent + 1);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined tensor";
  const Tensor values = x.detach();
  const Format format = choose_format(values.to_vector<double>(), x.dtype());
  const std::ios::fmtflags flags = out.flags();
  out << std::right;
  print_level(out, values, format, x.numel() > kSummariseAbove, 0);
  out.flags(flags);
  return out << '\n' << "(shape " << x.shape() << ", " << x.dtype() << ')';
}

}  // namespace lookback
