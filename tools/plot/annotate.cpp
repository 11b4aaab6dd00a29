// Tries a few places around each point and takes the cheapest.
#include "tools/plot/annotate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lookback::plot {
namespace {

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool overlaps(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
  bool holds(const Point& p, int margin) const {
    return p.x >= x - margin && p.x <= x + width + margin && p.y >= y - margin &&
           p.y <= y + height + margin;
  }
};

// Where a box stands relative to its point: -1 before it, 0 centred on it, 1 after it.
struct Side {
  int x;
  int y;
};

constexpr std::array<Side, 8> kSides = {
    {{1, -1}, {1, 1}, {-1, -1}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {-1, 0}}};

int beside(double at, int side, int distance, int length) {
  if (side == 0) return static_cast<int>(at) - length / 2;
  return static_cast<int>(at) + (side > 0 ? distance : -distance - length);
}

// Covering ink costs little, covering another note much, distance next to nothing.
Box cheapest_place(const Canvas& canvas, const PixelNote& note, int width, int height, int gap,
                   const std::vector<Point>& ink, const std::vector<Box>& taken) {
  Box best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const int distance : {gap, 3 * gap, 6 * gap, 12 * gap}) {
    for (const Side& side : kSides) {
      Box box{beside(note.at.x, side.x, distance, width),
              beside(note.at.y, side.y, distance, height), width, height};
      box.x = std::clamp(box.x, 0, std::max(0, canvas.width() - width));
      box.y = std::clamp(box.y, 0, std::max(0, canvas.height() - height));
      double cost = distance / static_cast<double>(gap);
      for (const Point& point : ink) cost += box.holds(point, gap / 2) ? 8.0 : 0.0;
      for (const Box& other : taken) cost += box.overlaps(other) ? 1000.0 : 0.0;
      if (cost < best_cost) {
        best_cost = cost;
        best = box;
      }
    }
  }
  return best;
}

}  // namespace

void draw_notes(Canvas& canvas, const std::vector<PixelNote>& notes, const std::vector<Point>& ink,
                const Theme& theme) {
  const TextStyle style = Theme::tick_style();
  std::vector<Box> taken;
  for (const PixelNote& note : notes) {
    const auto text = theme.wrap(note.text, style, canvas.width() / 2);
    int width = 0;
    for (const std::string& line : text) width = std::max(width, theme.text_width(line, style));
    const int height = theme.lines_height(text, style);
    const Box box = cheapest_place(canvas, note, width, height, theme.px(7), ink, taken);
    const Point edge{std::clamp(note.at.x, box.x + 0.0, box.x + box.width - 1.0),
                     std::clamp(note.at.y, box.y + 0.0, box.y + box.height - 1.0)};
    if (std::hypot(edge.x - note.at.x, edge.y - note.at.y) > 2 * theme.px(7)) {
      canvas.line(note.at.x, note.at.y, edge.x, edge.y, theme.scale(), palette::frame);
    }
    canvas.fill_rect(box.x, box.y, box.width, box.height, palette::paper);
    theme.lines(canvas, box.x, box.y, text, style);
    taken.push_back(box);
  }
}

}  // namespace lookback::plot
