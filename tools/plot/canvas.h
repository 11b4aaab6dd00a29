// A rectangle of RGB8 pixels and the few marks that figures are made of. Everything is clipped to
// the canvas. Knows no axes, no fonts, no files.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/plot/color.h"

namespace lookback::plot {

// Coverage of a shape, 0 ... 255, row-major: what a font renders and a canvas inks.
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> coverage;
};

// The mask turned a quarter to the left: text that reads upwards.
Mask turned_left(const Mask& mask);

class Canvas {
 public:
  static constexpr int kMaxSide = 30000;  // pixels

  Canvas() = default;
  // Throws std::invalid_argument when a side is negative or above kMaxSide.
  Canvas(int width, int height, Rgb background = palette::paper);

  int width() const { return width_; }
  int height() const { return height_; }
  // REQUIRES: 0 <= x < width(), 0 <= y < height().
  Rgb pixel(int x, int y) const;
  // height() x width() x 3 bytes, first row on top.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  void fill_rect(int x, int y, int width, int height, Rgb color);
  // A frame `thickness` thick just outside the rectangle.
  void frame_rect(int x, int y, int width, int height, int thickness, Rgb color);
  // Anti-aliased, round ends; coordinates are pixel centres.
  void line(double x0, double y0, double x1, double y1, double thickness, Rgb color);
  void disc(double x, double y, double radius, Rgb color);
  // Inks `mask` with its left upper corner at (x, y).
  void stamp(const Mask& mask, int x, int y, Rgb color);
  void draw(const Canvas& picture, int x, int y);

 private:
  void blend(int x, int y, Rgb color, double alpha);

  int width_ = 0;
  int height_ = 0;
  std::vector<std::uint8_t> bytes_;  // height x width x 3
};

}  // namespace lookback::plot
