// Pixel work: filling, anti-aliased lines by distance to the segment, blending of masks.
#include "tools/plot/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace lookback::plot {
namespace {

std::size_t offset(int width, int x, int y) {
  return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
          static_cast<std::size_t>(x)) *
         3;
}

}  // namespace

Mask turned_left(const Mask& mask) {
  Mask turned{mask.height, mask.width, std::vector<std::uint8_t>(mask.coverage.size())};
  for (int y = 0; y < turned.height; ++y) {
    for (int x = 0; x < turned.width; ++x) {
      const int from_x = mask.width - 1 - y;
      turned.coverage[static_cast<std::size_t>(y) * static_cast<std::size_t>(turned.width) +
                      static_cast<std::size_t>(x)] =
          mask.coverage[static_cast<std::size_t>(x) * static_cast<std::size_t>(mask.width) +
                        static_cast<std::size_t>(from_x)];
    }
  }
  return turned;
}

Canvas::Canvas(int width, int height, Rgb background) : width_(width), height_(height) {
  if (width < 0 || height < 0 || width > kMaxSide || height > kMaxSide) {
    throw std::invalid_argument("[plot] a picture's side must be 0 ... " +
                                std::to_string(kMaxSide) + " pixels; got " + std::to_string(width) +
                                " x " + std::to_string(height));
  }
  bytes_.resize(offset(width, 0, height));
  fill_rect(0, 0, width, height, background);
}

Rgb Canvas::pixel(int x, int y) const {
  const std::size_t at = offset(width_, x, y);
  return {bytes_[at], bytes_[at + 1], bytes_[at + 2]};
}

void Canvas::fill_rect(int x, int y, int width, int height, Rgb color) {
  const int right = std::min(x + width, width_);
  const int bottom = std::min(y + height, height_);
  for (int row = std::max(y, 0); row < bottom; ++row) {
    for (int column = std::max(x, 0); column < right; ++column) {
      const std::size_t at = offset(width_, column, row);
      bytes_[at] = color.r;
      bytes_[at + 1] = color.g;
      bytes_[at + 2] = color.b;
    }
  }
}

void Canvas::frame_rect(int x, int y, int width, int height, int thickness, Rgb color) {
  const int outer_width = width + 2 * thickness;
  fill_rect(x - thickness, y - thickness, outer_width, thickness, color);
  fill_rect(x - thickness, y + height, outer_width, thickness, color);
  fill_rect(x - thickness, y, thickness, height, color);
  fill_rect(x + width, y, thickness, height, color);
}

void Canvas::blend(int x, int y, Rgb color, double alpha) {
  const Rgb mixed = mix(pixel(x, y), color, alpha);
  const std::size_t at = offset(width_, x, y);
  bytes_[at] = mixed.r;
  bytes_[at + 1] = mixed.g;
  bytes_[at + 2] = mixed.b;
}

void Canvas::line(double x0, double y0, double x1, double y1, double thickness, Rgb color) {
  const double reach = thickness / 2 + 1;
  const int left = std::max(0, static_cast<int>(std::floor(std::min(x0, x1) - reach)));
  const int right = std::min(width_ - 1, static_cast<int>(std::ceil(std::max(x0, x1) + reach)));
  const int top = std::max(0, static_cast<int>(std::floor(std::min(y0, y1) - reach)));
  const int bottom = std::min(height_ - 1, static_cast<int>(std::ceil(std::max(y0, y1) + reach)));
  const double dx = x1 - x0;
  const double dy = y1 - y0;
  const double squared_length = dx * dx + dy * dy;
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      double along = 0.0;  // the nearest point of the segment, as a fraction of its length
      if (squared_length > 0) {
        along = std::clamp(((x - x0) * dx + (y - y0) * dy) / squared_length, 0.0, 1.0);
      }
      const double distance = std::hypot(x - (x0 + along * dx), y - (y0 + along * dy));
      const double alpha = std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0);
      if (alpha > 0) blend(x, y, color, alpha);
    }
  }
}

void Canvas::disc(double x, double y, double radius, Rgb color) {
  line(x, y, x, y, 2 * radius, color);
}

void Canvas::stamp(const Mask& mask, int x, int y, Rgb color) {
  for (int row = std::max(0, -y); row < std::min(mask.height, height_ - y); ++row) {
    for (int column = std::max(0, -x); column < std::min(mask.width, width_ - x); ++column) {
      const std::uint8_t coverage =
          mask.coverage[static_cast<std::size_t>(row) * static_cast<std::size_t>(mask.width) +
                        static_cast<std::size_t>(column)];
      if (coverage > 0) blend(x + column, y + row, color, coverage / 255.0);
    }
  }
}

void Canvas::draw(const Canvas& picture, int x, int y) {
  const int left = std::max(0, -x);
  const int columns = std::min(picture.width_, width_ - x) - left;
  if (columns <= 0) return;
  for (int row = std::max(0, -y); row < std::min(picture.height_, height_ - y); ++row) {
    const auto from =
        picture.bytes_.begin() + static_cast<std::ptrdiff_t>(offset(picture.width_, left, row));
    std::copy_n(from, columns * 3,
                bytes_.begin() + static_cast<std::ptrdiff_t>(offset(width_, x + left, y + row)));
  }
}

}  // namespace lookback::plot
