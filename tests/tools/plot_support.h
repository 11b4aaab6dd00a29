// What the tests of figures share.
#pragma once

#include "tools/plot/canvas.h"
#include "tools/plot/color.h"

namespace lookback::test {

// A margin of paper all around: nothing sticks out of the page or is cut by its edge.
inline bool margin_is_paper(const plot::Canvas& canvas, int margin) {
  for (int y = 0; y < canvas.height(); ++y) {
    const bool edge_row = y < margin || y >= canvas.height() - margin;
    for (int x = 0; x < canvas.width(); ++x) {
      if (!edge_row && x == margin) x = canvas.width() - margin;  // the inside may hold anything
      if (canvas.pixel(x, y) != plot::palette::paper) return false;
    }
  }
  return true;
}

// How many pixels have the colour.
inline int count(const plot::Canvas& canvas, plot::Rgb color) {
  int pixels = 0;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) pixels += canvas.pixel(x, y) == color ? 1 : 0;
  }
  return pixels;
}

}  // namespace lookback::test
