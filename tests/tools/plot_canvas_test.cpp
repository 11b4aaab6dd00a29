// Colours to the level, marks to the pixel.
#include "tools/plot/canvas.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/plot/color.h"

namespace lookback {
namespace {

using namespace plot;

struct MapPoint {
  ColorMap map;
  double t;
  std::uint32_t matplotlib;
};

class ColorMapValue : public testing::TestWithParam<MapPoint> {};

// Values of Matplotlib 3.6: plt.get_cmap(name)(t, bytes=True).
TEST_P(ColorMapValue, IsMatplotlibsWithinTwoLevels) {
  const Rgb ours = color_at(GetParam().map, GetParam().t);
  const Rgb theirs = rgb(GetParam().matplotlib);
  EXPECT_NEAR(ours.r, theirs.r, 2);
  EXPECT_NEAR(ours.g, theirs.g, 2);
  EXPECT_NEAR(ours.b, theirs.b, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ColorMapValue,
    testing::Values(
        MapPoint{ColorMap::blues, 0.0, 0xf7fbff}, MapPoint{ColorMap::blues, 0.25, 0xc6dbef},
        MapPoint{ColorMap::blues, 0.5, 0x6aaed6}, MapPoint{ColorMap::blues, 0.75, 0x2070b4},
        MapPoint{ColorMap::blues, 1.0, 0x08306b}, MapPoint{ColorMap::viridis, 0.0, 0x440154},
        MapPoint{ColorMap::viridis, 0.25, 0x3a528b}, MapPoint{ColorMap::viridis, 0.5, 0x20908c},
        MapPoint{ColorMap::viridis, 0.75, 0x5dc962}, MapPoint{ColorMap::viridis, 1.0, 0xfde724},
        MapPoint{ColorMap::red_blue, 0.0, 0x67001f}, MapPoint{ColorMap::red_blue, 0.5, 0xf6f6f6},
        MapPoint{ColorMap::red_blue, 1.0, 0x053061}));

TEST(ColorMaps, ClampWhatLiesOutside) {
  for (const ColorMap map : {ColorMap::blues, ColorMap::viridis, ColorMap::red_blue}) {
    EXPECT_EQ(color_at(map, -3.0), color_at(map, 0.0));
    EXPECT_EQ(color_at(map, 7.0), color_at(map, 1.0));
    EXPECT_EQ(color_at(map, std::numeric_limits<double>::quiet_NaN()), color_at(map, 0.0));
  }
}

TEST(ColorMaps, NeverHoldTheColoursOfMaskedNanOrInfinity) {
  for (const ColorMap map : {ColorMap::blues, ColorMap::viridis, ColorMap::red_blue}) {
    for (int level = 0; level < 256; ++level) {
      const Rgb c = color_at(map, (level + 0.5) / 256);
      for (const Rgb other : {palette::masked, palette::nan, palette::infinite}) {
        const int distance =
            std::abs(c.r - other.r) + std::abs(c.g - other.g) + std::abs(c.b - other.b);
        EXPECT_GT(distance, 24) << level;
      }
    }
  }
}

TEST(Colors, SeriesDiffer) {
  std::set<int> seen;
  for (int i = 0; i < 8; ++i) {
    const Rgb c = series_color(i);
    seen.insert(c.r << 16 | c.g << 8 | c.b);
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(series_color(8), series_color(0));
}

TEST(Canvas, StartsAsPaper) {
  const Canvas canvas(3, 2);
  EXPECT_EQ(canvas.bytes(), std::vector<std::uint8_t>(3 * 2 * 3, 255));
}

TEST(Canvas, FillsExactlyTheRectangle) {
  Canvas canvas(6, 5);
  canvas.fill_rect(1, 2, 3, 2, palette::nan);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 6; ++x) {
      const bool inside = x >= 1 && x < 4 && y >= 2 && y < 4;
      EXPECT_EQ(canvas.pixel(x, y), inside ? palette::nan : palette::paper) << x << " " << y;
    }
  }
}

TEST(Canvas, ClipsEverything) {
  Canvas canvas(4, 4);
  canvas.fill_rect(-5, -5, 100, 100, palette::nan);
  canvas.fill_rect(10, 10, 5, 5, palette::ink);
  canvas.line(-50, -50, 60, 70, 3, palette::ink);
  canvas.disc(9, 9, 3, palette::ink);
  canvas.stamp(Mask{2, 2, {255, 255, 255, 255}}, -1, 3, palette::ink);
  canvas.draw(Canvas(3, 3), -2, 3);
  canvas.draw(Canvas(3, 3), 9, -9);
  EXPECT_EQ(canvas.pixel(3, 0), palette::nan);
  EXPECT_EQ(canvas.pixel(0, 3), palette::paper);
}

TEST(Canvas, FramesJustOutside) {
  Canvas canvas(6, 6);
  canvas.frame_rect(2, 2, 2, 2, 1, palette::ink);
  EXPECT_EQ(canvas.pixel(1, 1), palette::ink);
  EXPECT_EQ(canvas.pixel(4, 4), palette::ink);
  EXPECT_EQ(canvas.pixel(2, 2), palette::paper);
  EXPECT_EQ(canvas.pixel(0, 0), palette::paper);
}

TEST(Canvas, LinesAreSolidInsideAndSoftAtTheEdge) {
  Canvas canvas(21, 21);
  canvas.line(2, 10, 18, 10, 3, palette::ink);
  EXPECT_EQ(canvas.pixel(10, 10), palette::ink);
  EXPECT_EQ(canvas.pixel(10, 9), palette::ink);
  EXPECT_EQ(canvas.pixel(10, 7), palette::paper);
  canvas = Canvas(21, 21);
  canvas.line(2, 2, 18, 12, 1.5, palette::ink);
  std::set<int> shades;
  for (int y = 0; y < 21; ++y) {
    for (int x = 0; x < 21; ++x) shades.insert(canvas.pixel(x, y).r);
  }
  EXPECT_GT(shades.size(), 5u);
}

TEST(Canvas, StampsByCoverage) {
  Canvas canvas(2, 1);
  canvas.stamp(Mask{2, 1, {255, 0}}, 0, 0, palette::ink);
  EXPECT_EQ(canvas.pixel(0, 0), palette::ink);
  EXPECT_EQ(canvas.pixel(1, 0), palette::paper);
}

TEST(Canvas, DrawsPicturesUnchanged) {
  Canvas picture(2, 2, palette::good);
  Canvas canvas(4, 4);
  canvas.draw(picture, 1, 1);
  EXPECT_EQ(canvas.pixel(1, 1), palette::good);
  EXPECT_EQ(canvas.pixel(2, 2), palette::good);
  EXPECT_EQ(canvas.pixel(3, 3), palette::paper);
}

TEST(Canvas, RefusesImpossibleSizes) {
  EXPECT_THROW(Canvas(-1, 3), std::invalid_argument);
  EXPECT_EQ(test::message_of([] { Canvas(3, 40000); }),
            "[plot] a picture's side must be 0 ... 30000 pixels; got 3 x 40000");
}

TEST(Mask, TurnsLeft) {
  const Mask turned = turned_left(Mask{3, 2, {1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(turned.width, 2);
  EXPECT_EQ(turned.height, 3);
  EXPECT_EQ(turned.coverage, (std::vector<std::uint8_t>{3, 6, 2, 5, 1, 4}));
}

}  // namespace
}  // namespace lookback
