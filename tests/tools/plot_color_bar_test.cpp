// The marks of a colour bar.
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/plot/color_scale.h"
#include "tools/plot/heatmap.h"

namespace lookback::plot {
namespace {

std::vector<double> marks(const ColorScale& scale, const std::vector<double>& values) {
  std::vector<double> found;
  for (const Tick& tick : SettledScale(scale, {values}).bar_ticks(800, Theme())) {
    found.push_back(tick.value);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(ColorBar, NamesItsEnds) {
  ColorScale log;
  log.log = true;
  EXPECT_EQ(marks(log, {0.0023, 0.5}).front(), 0.0023);
  EXPECT_EQ(marks(log, {0.0023, 0.5}).back(), 0.5);
  EXPECT_EQ(marks({}, {0.0, 0.1877}).back(), 0.1877);
}

TEST(ColorBar, NamesNoEndBesideARoundNumber) {
  ColorScale log;
  log.log = true;
  EXPECT_NEAR(marks(log, {0.00098, 1}).front(), 0.001, 1e-9);
  EXPECT_EQ(marks({}, {0.0, 0.201}).back(), 0.2);
}

TEST(HeatmapGrid, FillsTheColumnOfAReportWhateverTheNumberOfPanels) {
  for (const int columns : {1, 2, 3, 4, 5}) {
    HeatmapGrid grid;
    grid.columns = columns;
    grid.panels.resize(static_cast<size_t>(columns));
    for (Heatmap& panel : grid.panels) {
      panel.rows = panel.columns = 32;
      panel.values.assign(32 * 32, 0.5);
    }
    EXPECT_LE(draw_heatmap_grid(grid).canvas.width(), Theme().px(1048)) << columns;
  }
}

TEST(Heatmap, AStripHasTheWidthThatItIsGiven) {
  for (const int keys : {1, 7, 64, 300}) {
    Heatmap strip;
    strip.rows = 16;
    strip.columns = keys;
    strip.values.assign(static_cast<size_t>(16 * keys), 0.5);
    strip.largest_cell = 12;
    strip.width = 760;
    const CellArea area = draw_heatmap(strip).areas.at(0);
    EXPECT_EQ(area.cell_height, Theme().px(12));
    EXPECT_LE(area.columns * area.cell_width, Theme().px(760));
    EXPECT_GT(area.columns * (area.cell_width + 1), Theme().px(760));
  }
}

}  // namespace
}  // namespace lookback::plot
