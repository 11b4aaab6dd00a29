// Tables, and panels arranged on pages: tones to the pixel, anchors aligned, bad input refused.
#include "tools/plot/table.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/files_support.h"
#include "tests/tools/plot_support.h"
#include "tools/plot/panel.h"

namespace lookback {
namespace {

using namespace plot;
using test::count;
using test::margin_is_paper;
using test::message_of;

Table kill_matrix(int mutants, int theorems) {
  Table table;
  table.matrix = true;
  table.row_title = "mutant";
  table.column_title = "theorem";
  for (int c = 0; c < theorems; ++c) {
    table.column_labels.push_back("a theorem with a long name, number " + std::to_string(c));
  }
  for (int r = 0; r < mutants; ++r) {
    table.row_labels.push_back("mutant " + std::to_string(r));
    table.rows.emplace_back();
    for (int c = 0; c < theorems; ++c) {
      const bool killed = (r + c) % 3 == 0;
      table.rows.back().push_back({killed ? "✗" : "✓", killed ? CellTone::bad : CellTone::good});
    }
  }
  table.legend = {{CellTone::bad, "killed"}, {CellTone::good, "the theorem holds"}};
  return table;
}

TEST(TableMatrix, CellsHaveTheirTone) {
  const Panel panel = figure(draw_table(kill_matrix(16, 20)), {"Kill matrix", "", "made by"});
  ASSERT_EQ(panel.areas.size(), 1u);
  const CellArea& area = panel.areas[0];
  EXPECT_EQ(area.rows, 16);
  EXPECT_EQ(area.columns, 20);
  for (int r = 0; r < 16; ++r) {
    for (int c = 0; c < 20; ++c) {
      const Rgb corner =
          panel.canvas.pixel(area.x + c * area.cell_width + 2, area.y + r * area.cell_height + 2);
      EXPECT_EQ(corner, (r + c) % 3 == 0 ? palette::bad : palette::good);
    }
  }
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
}

TEST(Table, GrowsWithItsText) {
  Table table{.column_labels = {"name", "value"}, .rows = {{{"a"}, {"1.5"}}}};
  const int narrow = draw_table(table).canvas.width();
  table.rows[0][0].text = std::string(80, 'x');
  EXPECT_GT(draw_table(table).canvas.width(), narrow + 80);
  EXPECT_TRUE(margin_is_paper(figure(draw_table(table), {"T", "", ""}).canvas, Theme().px(20)));
}

TEST(Table, WorksWithRowLabelsTitlesAndTones) {
  const Table table{.column_labels = {"d_k", "verdict"},
                    .row_labels = {"first", "second"},
                    .rows = {{{"16"}, {"good", CellTone::good}}, {{"64"}, {"bad", CellTone::bad}}},
                    .title = "A table",
                    .caption = std::string(300, 'c'),
                    .row_title = "row",
                    .column_title = "column"};
  const Panel panel = figure(draw_table(table), {"T", "", "f"});
  EXPECT_TRUE(margin_is_paper(panel.canvas, Theme().px(20)));
  EXPECT_GT(count(panel.canvas, palette::bad), 100);
}

TEST(Table, RefusesBadInput) {
  EXPECT_EQ(message_of([] { draw_table({}); }),
            "[table] needs at least one row and one column; got 0 and 0");
  EXPECT_EQ(message_of([] {
              draw_table({.column_labels = {"a", "b"}, .rows = {{{"1"}}}});
            }),
            "[table] every row must have 2 cells; got 1");
  EXPECT_EQ(message_of([] {
              draw_table({.column_labels = {"a"}, .row_labels = {"x", "y"}, .rows = {{{"1"}}}});
            }),
            "[table] row labels must number 0 or 1; got 2");
}

Panel block(int width, int height, int anchor_x, int anchor_y) {
  Panel panel{Canvas(width, height, palette::good), anchor_x, anchor_y, {}};
  panel.areas.push_back({anchor_x, anchor_y, 1, 1, 1, 1});
  return panel;
}

TEST(Arrange, AlignsAnchors) {
  const Panel page = arrange({block(50, 60, 10, 5), block(70, 40, 0, 20), block(30, 30, 15, 0)}, 2);
  ASSERT_EQ(page.areas.size(), 3u);
  EXPECT_EQ(page.areas[0].y, page.areas[1].y);
  EXPECT_EQ(page.areas[0].x, page.areas[2].x);
  EXPECT_EQ(count(page.canvas, palette::good), 50 * 60 + 70 * 40 + 30 * 30);  // none overlaps
}

TEST(Arrange, OnePanelIsUnchanged) {
  const Panel page = arrange({block(50, 60, 10, 5)}, 3);
  EXPECT_EQ(page.canvas.bytes(), block(50, 60, 10, 5).canvas.bytes());
}

TEST(Arrange, RefusesNothing) {
  EXPECT_EQ(message_of([] { arrange({}, 2); }),
            "[arrange] needs at least one panel and one column; got 0 and 2");
}

TEST(Figure, MovesCellAreasAlong) {
  const Panel page = figure(block(50, 60, 10, 5), {"title", "subtitle", "footer"});
  ASSERT_EQ(page.areas.size(), 1u);
  EXPECT_EQ(page.areas[0].x, page.anchor_x);
  EXPECT_EQ(page.areas[0].y, page.anchor_y);
  EXPECT_EQ(page.canvas.pixel(page.areas[0].x, page.areas[0].y), palette::good);
}

TEST(Figure, WorksWithoutText) {
  const Panel page = figure(block(50, 60, 0, 0), {});
  EXPECT_EQ(count(page.canvas, palette::good), 50 * 60);
  EXPECT_TRUE(margin_is_paper(page.canvas, Theme().px(20)));
}

}  // namespace
}  // namespace lookback
