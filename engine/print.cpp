// The printed form of a tensor: nested rows and numbers as PyTorch prints them, then shape and
// dtype.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <locale>
#include <ostream>
#include <sstream>

#include "engine/ops.h"
#include "engine/tensor.h"

namespace lookback {
namespace {

// PyTorch's defaults: above 1000 elements, only three at each edge of a dimension are shown; a
// row that is longer than a line goes on in the next.
constexpr int64_t kSummariseAbove = 1000;
constexpr int64_t kEdge = 3;
constexpr int64_t kLineWidth = 80;

// How all shown numbers of one tensor are written: alike, and as short as shows four decimals.
struct Format {
  bool boolean = false;
  bool floating = false;
  bool integral = true;  // no shown number has decimals
  bool scientific = false;
  int64_t width = 0;

  std::string text(double value) const {
    if (boolean) return value != 0 ? "true" : "false";
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    std::ostringstream out;
    out << (scientific ? std::scientific : std::fixed);
    out << std::setprecision(integral && !scientific ? 0 : 4) << value;
    if (floating && integral && !scientific) out << '.';
    return out.str();
  }
};

// The positions along a dimension of size n that are shown; -1 stands for those left out.
std::vector<int64_t> shown_positions(int64_t n, bool summarise) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < n; ++i) {
    if (summarise && n > 2 * kEdge && i == kEdge) {
      positions.push_back(-1);
      i = n - kEdge;
    }
    positions.push_back(i);
  }
  return positions;
}

void collect_shown(const Tensor& x, bool summarise, std::vector<double>& values) {
  if (x.dim() == 0) {
    values.push_back(x.item<double>());
    return;
  }
  for (const int64_t i : shown_positions(x.size(0), summarise)) {
    if (i >= 0) collect_shown(select(x, 0, i), summarise, values);
  }
}

Format choose_format(const std::vector<double>& values, DType dtype) {
  Format format;
  format.boolean = dtype == DType::boolean;
  format.floating = is_floating(dtype);
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    format.integral &= v == std::trunc(v);
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
  }
  format.scientific = format.floating && (largest / smallest > 1000 || largest > 1e8 ||
                                          (!format.integral && smallest < 1e-4));
  for (const double v : values) {
    format.width = std::max(format.width, static_cast<int64_t>(format.text(v).size()));
  }
  return format;
}

void print_row(std::ostream& out, const Tensor& x, const Format& format, bool summarise,
               int64_t indent) {
  const int64_t per_line = std::max<int64_t>(1, (kLineWidth - indent) / (format.width + 2));
  int64_t printed = 0;
  for (const int64_t i : shown_positions(x.size(0), summarise)) {
    if (printed > 0 && printed % per_line == 0) {
      out << ",\n" << std::string(static_cast<size_t>(indent), ' ');
    } else if (printed > 0) {
      out << ", ";
    }
    ++printed;
    if (i < 0) {
      out << " ...";
    } else {
      out << std::setw(static_cast<int>(format.width))
          << format.text(select(x, 0, i).item<double>());
    }
  }
}

void print_level(std::ostream& out, const Tensor& x, const Format& format, bool summarise,
                 int64_t indent) {
  if (x.dim() == 0) {
    out << format.text(x.item<double>());
    return;
  }
  out << '[';
  if (x.dim() == 1) {
    print_row(out, x, format, summarise, indent + 1);
  } else {
    const char* separator = "";
    std::string line_break(1, ',');
    line_break.append(static_cast<size_t>(x.dim()) - 1, '\n');
    line_break.append(static_cast<size_t>(indent) + 1, ' ');
    for (const int64_t i : shown_positions(x.size(0), summarise)) {
      out << separator;
      separator = line_break.c_str();
      if (i < 0) {
        out << "...";
      } else {
        print_level(out, select(x, 0, i), format, summarise, indent + 1);
      }
    }
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined tensor";
  const Tensor values = x.detach();
  const bool summarise = x.numel() > kSummariseAbove;
  std::vector<double> shown;
  collect_shown(values, summarise, shown);
  // Written apart, so that no setting of `out` (width, base, locale) can leak in.
  std::ostringstream text;
  text.imbue(std::locale::classic());
  if (x.numel() == 0) {
    text << "[]";
  } else {
    print_level(text, values, choose_format(shown, x.dtype()), summarise, 0);
  }
  text << '\n' << "(shape " << x.shape() << ", " << x.dtype() << ')';
  return out << text.str();
}

}  // namespace lookback
