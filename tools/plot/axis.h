// Axes: round numbers to mark, and token labels that are thinned where they would overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/plot/canvas.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

struct Tick {
  double value = 0.0;
  std::string label{};
};

// At most `max_count` (>= 2) round values in [low, high], each a multiple of 1, 2 or 5 times a
// power of ten, that step being at least `least_step`. REQUIRES: low < high, finite.
std::vector<Tick> linear_ticks(double low, double high, int max_count, double least_step = 0.0);

// The same for a logarithmic axis: powers of ten, or 1-2-5 steps where few powers lie inside.
// REQUIRES: 0 < low < high, finite.
std::vector<Tick> log_ticks(double low, double high, int max_count);

// `significant` digits, no trailing zeros: 0.25, 1.2e-07, nan, ∞.
std::string format_number(double value, int significant = 3);

// The labels that fit along an edge whose cells are `cell` pixels.
struct EdgeLabels {
  std::vector<std::string> texts{};  // one per cell, whether drawn or not
  int stride = 1;                    // every stride-th label is drawn, the first included
  int room = 0;                      // pixels: a wider column label reads upwards
  int extent = 0;                    // pixels they need, measured away from the edge
  int overhang = 0;                  // pixels that they may stick out beyond the first or last cell
  TextStyle style = Theme::token_style();
};

// `labels` empty: positions 0, 1, ... stand in. Thinned labels carry their position, `40 e`.
// A column label that its cell cannot hold is turned, and no other with it: `U+1F600` among letters
// leaves them upright. REQUIRES: count >= 1. Throws std::invalid_argument when the number of labels
// is neither 0 nor `count`.
EdgeLabels fit_row_labels(const std::vector<std::string>& labels, std::int64_t count, int cell,
                          const Theme& theme);
EdgeLabels fit_column_labels(const std::vector<std::string>& labels, std::int64_t count, int cell,
                             const Theme& theme);

// Labels left of a matrix whose left edge is x and whose first cell begins at y.
void draw_row_labels(Canvas& canvas, const EdgeLabels& labels, int x, int y, int cell,
                     const Theme& theme);
// Labels below a matrix whose bottom edge is y and whose first cell begins at x.
void draw_column_labels(Canvas& canvas, const EdgeLabels& labels, int x, int y, int cell,
                        const Theme& theme);

// How many pixels a cell gets when `count` of them share about `target` layout units: a whole
// number, at least 1, at most 56 units, and wide enough for a label up to `stretch` units in all.
int cell_pixels(std::int64_t count, double target, double stretch, const Theme& theme);

}  // namespace lookback::plot
