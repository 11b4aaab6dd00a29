// Panels and figures: a panel is a drawn piece that can stand beside others, a figure is the
// finished page with title, subtitle and footer.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/canvas.h"
#include "tools/plot/theme.h"

namespace lookback::plot {

// Where a matrix lies on a canvas, in pixels: cell (r, c) is the rectangle at
// (x + c * cell_width, y + r * cell_height). Lets a web page say what is under the pointer.
struct CellArea {
  int x = 0;
  int y = 0;
  int cell_width = 0;
  int cell_height = 0;
  int rows = 0;
  int columns = 0;
};

struct Panel {
  Canvas canvas{};
  int anchor_x = 0;  // left edge and top of what is plotted: neighbours are aligned by them
  int anchor_y = 0;
  std::vector<CellArea> areas{};
};

// Panels in reading order, `columns` to a row, those of one row aligned by their tops and those of
// one column by their left edges. Throws std::invalid_argument for no panel or columns < 1.
Panel arrange(const std::vector<Panel>& panels, int columns, const Theme& theme = Theme());

struct FigureText {
  std::string title{};     // wrapped, never cut; `\n` starts a new line
  std::string subtitle{};  // the same, smaller: shapes, seed, what is to be seen
  std::string footer{};    // "made by: lookback heatmap ..."
};

// The page around a panel: margins, title lines above, footer below.
Panel figure(const Panel& body, const FigureText& text, const Theme& theme = Theme());

// Lines of text as a panel of the given width in layout units: notes between pictures.
Panel text_panel(const std::string& text, double width, const Theme& theme = Theme());

}  // namespace lookback::plot
