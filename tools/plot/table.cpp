// Column widths from the contents, then rows of text. Nothing is cut: a table grows instead.
#include "tools/plot/table.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>

#include "tools/plot/legend.h"

namespace lookback::plot {
namespace {

constexpr double kCellPadding = 8.0;  // left and right of a cell's text
constexpr double kRowHeight = 23.0;
constexpr double kMatrixCell = 30.0;
constexpr double kHeaderGap = 6.0;

TextStyle header_style() { return {Face::bold, 11.5, palette::ink}; }
TextStyle label_style() { return {Face::regular, 12.0, palette::ink}; }
TextStyle cell_style() { return {Face::mono, 11.5, palette::ink}; }

struct Tones {
  Rgb background;
  Rgb ink;
};

Tones tones(CellTone tone) {
  switch (tone) {
    case CellTone::good:
      return {palette::good, palette::good_ink};
    case CellTone::bad:
      return {palette::bad, palette::bad_ink};
    case CellTone::plain:
      break;
  }
  return {palette::paper, palette::ink};
}

struct Layout {
  std::vector<std::string> title;
  std::vector<std::string> caption;
  int label_width = 0;  // the column of row labels, padding included
  std::vector<int> column_widths;
  std::vector<bool> numeric;  // columns whose text is set to the right
  int row_height = 0;
  bool turned = false;  // headings that read upwards
  int header_height = 0;
  int body_width = 0;
  int column_title_y = 0;
  int top = 0;  // of the first row
  int caption_y = 0;
  int width = 0;
  int height = 0;
};

void check(const Table& table) {
  const std::size_t columns = table.column_labels.size();
  if (columns == 0 || table.rows.empty()) {
    throw std::invalid_argument("[table] needs at least one row and one column; got " +
                                std::to_string(table.rows.size()) + " and " +
                                std::to_string(columns));
  }
  for (const auto& row : table.rows) {
    if (row.size() == columns) continue;
    throw std::invalid_argument("[table] every row must have " + std::to_string(columns) +
                                " cells; got " + std::to_string(row.size()));
  }
  if (!table.row_labels.empty() && table.row_labels.size() != table.rows.size()) {
    throw std::invalid_argument("[table] row labels must number 0 or " +
                                std::to_string(table.rows.size()) + "; got " +
                                std::to_string(table.row_labels.size()));
  }
}

bool is_number(const std::string& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

int widest_label(const std::vector<std::string>& labels, const TextStyle& style,
                 const Theme& theme) {
  int width = 0;
  for (const std::string& label : labels) width = std::max(width, theme.text_width(label, style));
  return width;
}

int widest_cell(const Table& table, std::size_t column, const Theme& theme) {
  int width = 0;
  for (const auto& row : table.rows) {
    width = std::max(width, theme.text_width(row[column].text, cell_style()));
  }
  return width;
}

void size_columns(const Table& table, Layout& layout, const Theme& theme) {
  const int padding = 2 * theme.px(kCellPadding);
  const std::size_t columns = table.column_labels.size();
  layout.numeric.assign(columns, !table.matrix);
  if (table.matrix) {
    int cell = theme.px(kMatrixCell);
    for (std::size_t column = 0; column < columns; ++column) {
      cell = std::max(cell, widest_cell(table, column, theme) + theme.px(kCellPadding));
    }
    layout.column_widths.assign(columns, cell);
    const int heading = widest_label(table.column_labels, header_style(), theme);
    layout.turned = heading + theme.px(kCellPadding) > cell;
    layout.header_height = layout.turned ? heading : theme.line_height(header_style());
    return;
  }
  for (std::size_t column = 0; column < columns; ++column) {
    const int heading = theme.text_width(table.column_labels[column], header_style());
    layout.column_widths.push_back(std::max(heading, widest_cell(table, column, theme)) + padding);
    for (const auto& row : table.rows) {
      if (!is_number(row[column].text) && !row[column].text.empty()) layout.numeric[column] = false;
    }
  }
  layout.header_height = theme.line_height(header_style());
}

// From the title down to the caption.
void place_rows(const Table& table, Layout& layout, const Theme& theme) {
  const int title_height = theme.lines_height(layout.title, Theme::panel_style());
  layout.column_title_y = title_height + (layout.title.empty() ? 0 : theme.px(10));
  const int header_y =
      layout.column_title_y + (table.column_title.empty()
                                   ? 0
                                   : theme.line_height(Theme::axis_style()) + theme.px(kHeaderGap));
  layout.top = header_y + layout.header_height + theme.px(2 * kHeaderGap);
  const int bottom = layout.top + static_cast<int>(table.rows.size()) * layout.row_height;
  layout.caption_y = bottom + theme.px(9);
  layout.height = layout.caption.empty()
                      ? bottom + 1
                      : layout.caption_y + theme.lines_height(layout.caption, Theme::note_style());
}

Layout lay_out(const Table& table, const Theme& theme) {
  Layout layout;
  size_columns(table, layout, theme);
  for (const int width : layout.column_widths) layout.body_width += width;
  layout.row_height = theme.px(table.matrix ? 25.0 : kRowHeight);
  if (!table.row_labels.empty() || !table.row_title.empty()) {
    layout.label_width = std::max(widest_label(table.row_labels, label_style(), theme),
                                  theme.text_width(table.row_title, Theme::axis_style())) +
                         theme.px(kCellPadding);
  }
  if (!table.column_title.empty()) {
    layout.body_width =
        std::max(layout.body_width, theme.text_width(table.column_title, Theme::axis_style()));
  }
  const int text_width = std::max(layout.label_width + layout.body_width, theme.px(200));
  layout.title = theme.wrap(table.title, Theme::panel_style(), text_width);
  layout.caption = theme.wrap(table.caption, Theme::note_style(), text_width);
  place_rows(table, layout, theme);
  const bool has_text = !layout.title.empty() || !layout.caption.empty();
  layout.width = has_text ? text_width : layout.label_width + layout.body_width;
  return layout;
}

void draw_header(Canvas& canvas, const Table& table, const Layout& layout, const Theme& theme) {
  const TextStyle style = header_style();
  const int line = theme.line_height(style);
  const int baseline = layout.top - theme.px(kHeaderGap);
  int x = layout.label_width;
  for (std::size_t column = 0; column < table.column_labels.size(); ++column) {
    const std::string& label = table.column_labels[column];
    const int width = layout.column_widths[column];
    if (layout.turned) {
      theme.text_up(canvas, x + (width - line) / 2, baseline, label, style);
    } else if (table.matrix) {
      theme.text(canvas, x + width / 2, baseline - line, label, style, Align::center);
    } else if (layout.numeric[column]) {
      theme.text(canvas, x + width - theme.px(kCellPadding), baseline - line, label, style,
                 Align::right);
    } else {
      theme.text(canvas, x + theme.px(kCellPadding), baseline - line, label, style);
    }
    x += width;
  }
  const int axis_line = theme.line_height(Theme::axis_style());
  theme.text(canvas, 0, baseline - axis_line, table.row_title, Theme::axis_style());
  if (!table.matrix)
    canvas.fill_rect(0, layout.top - theme.scale(), x, theme.scale(), palette::frame);
}

void draw_cell(Canvas& canvas, const TableCell& cell, int x, int y, int width, int height,
               Align align, const Theme& theme) {
  TextStyle style = cell_style();
  style.color = tones(cell.tone).ink;
  const int padding = theme.px(kCellPadding);
  const int text_x = align == Align::center  ? x + width / 2
                     : align == Align::right ? x + width - padding
                                             : x + padding;
  canvas.fill_rect(x, y, width, height, tones(cell.tone).background);
  theme.text(canvas, text_x, y + (height - theme.line_height(style)) / 2, cell.text, style, align);
}

void draw_rows(Canvas& canvas, const Table& table, const Layout& layout, const Theme& theme) {
  const int hair = std::max(1, theme.px(0.5));
  const int label_line = theme.line_height(label_style());
  int y = layout.top;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (!table.row_labels.empty()) {
      theme.text(canvas, table.matrix ? layout.label_width - theme.px(kCellPadding) : 0,
                 y + (layout.row_height - label_line) / 2, table.row_labels[row], label_style(),
                 table.matrix ? Align::right : Align::left);
    }
    int x = layout.label_width;
    for (std::size_t column = 0; column < table.rows[row].size(); ++column) {
      const int width = layout.column_widths[column];
      const Align align = table.matrix             ? Align::center
                          : layout.numeric[column] ? Align::right
                                                   : Align::left;
      draw_cell(canvas, table.rows[row][column], x, y, width, layout.row_height, align, theme);
      if (table.matrix)
        canvas.fill_rect(x + width - hair, y, hair, layout.row_height, palette::paper);
      x += width;
    }
    y += layout.row_height;
    canvas.fill_rect(table.matrix ? layout.label_width : 0, y - hair, x, hair,
                     table.matrix ? palette::paper : palette::grid);
  }
}

std::vector<LegendEntry> legend_entries(const Table& table) {
  std::vector<LegendEntry> entries;
  for (const ToneMeaning& meaning : table.legend) {
    entries.push_back({tones(meaning.tone).background, meaning.label, Mark::swatch});
  }
  return entries;
}

}  // namespace

Panel draw_table(const Table& table, const Theme& theme) {
  check(table);
  const Layout layout = lay_out(table, theme);
  Panel panel{Canvas(layout.width, layout.height), 0, layout.top, {}};
  Canvas& canvas = panel.canvas;
  theme.lines(canvas, 0, 0, layout.title, Theme::panel_style());
  theme.text(canvas, layout.label_width + (table.matrix ? 0 : theme.px(kCellPadding)),
             layout.column_title_y, table.column_title, Theme::axis_style());
  draw_header(canvas, table, layout, theme);
  draw_rows(canvas, table, layout, theme);
  theme.lines(canvas, 0, layout.caption_y, layout.caption, Theme::note_style());
  if (table.matrix) {
    panel.areas.push_back({layout.label_width, layout.top, layout.column_widths[0],
                           layout.row_height, static_cast<int>(table.rows.size()),
                           static_cast<int>(table.column_labels.size())});
  }
  const std::vector<LegendEntry> legend = legend_entries(table);
  if (legend.empty()) return panel;
  return arrange({panel, draw_legend(legend, 150, theme)}, 2, theme);
}

}  // namespace lookback::plot
