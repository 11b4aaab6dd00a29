// Arranging drawn pieces on a page.
#include "tools/plot/panel.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace lookback::plot {
namespace {

constexpr double kMargin = 26.0;       // around a figure
constexpr double kGap = 26.0;          // between panels
constexpr double kMinContent = 470.0;  // titles get at least this width

// The extent of a column (or row) of panels before and after their common anchor.
struct Track {
  int before = 0;
  int after = 0;
  int start = 0;

  int size() const { return before + after; }
  void hold(int anchor, int length) {
    before = std::max(before, anchor);
    after = std::max(after, length - anchor);
  }
};

// Puts the tracks one after another, `gap` apart; returns their whole length.
int place(std::vector<Track>& tracks, int gap) {
  int position = 0;
  for (Track& track : tracks) {
    track.start = position;
    position += track.size() + gap;
  }
  return position - gap;
}

void put(Panel& page, const Panel& piece, int x, int y) {
  page.canvas.draw(piece.canvas, x, y);
  for (CellArea area : piece.areas) {
    area.x += x;
    area.y += y;
    page.areas.push_back(area);
  }
}

}  // namespace

Panel arrange(const std::vector<Panel>& panels, int columns, const Theme& theme) {
  if (panels.empty() || columns < 1) {
    throw std::invalid_argument("[arrange] needs at least one panel and one column; got " +
                                std::to_string(panels.size()) + " and " + std::to_string(columns));
  }
  const auto width = std::min(static_cast<std::size_t>(columns), panels.size());
  std::vector<Track> column_tracks(width);
  std::vector<Track> row_tracks((panels.size() + width - 1) / width);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    column_tracks[i % width].hold(panels[i].anchor_x, panels[i].canvas.width());
    row_tracks[i / width].hold(panels[i].anchor_y, panels[i].canvas.height());
  }
  const int total_width = place(column_tracks, theme.px(kGap));
  const int total_height = place(row_tracks, theme.px(kGap));
  Panel page{Canvas(total_width, total_height), column_tracks[0].before, row_tracks[0].before, {}};
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Track& column = column_tracks[i % width];
    const Track& row = row_tracks[i / width];
    put(page, panels[i], column.start + column.before - panels[i].anchor_x,
        row.start + row.before - panels[i].anchor_y);
  }
  return page;
}

Panel figure(const Panel& body, const FigureText& text, const Theme& theme) {
  const int margin = theme.px(kMargin);
  const int content = std::max(body.canvas.width(), theme.px(kMinContent));
  const auto title = theme.wrap(text.title, Theme::title_style(), content);
  const auto subtitle = theme.wrap(text.subtitle, Theme::subtitle_style(), content);
  const auto footer = theme.wrap(text.footer, Theme::note_style(), content);
  const int title_height = theme.lines_height(title, Theme::title_style());
  const int title_gap = !title.empty() && !subtitle.empty() ? theme.px(4) : 0;
  const int subtitle_height = theme.lines_height(subtitle, Theme::subtitle_style());
  const int head = title_height + title_gap + subtitle_height;
  const int head_gap = head > 0 ? theme.px(20) : 0;
  const int foot = theme.lines_height(footer, Theme::note_style());
  const int foot_gap = foot > 0 ? theme.px(20) : 0;

  const int body_y = margin + head + head_gap;
  const int foot_y = body_y + body.canvas.height() + foot_gap;
  Panel page{Canvas(content + 2 * margin, foot_y + foot + margin),
             margin + body.anchor_x,
             body_y + body.anchor_y,
             {}};
  int y = theme.lines(page.canvas, margin, margin, title, Theme::title_style());
  theme.lines(page.canvas, margin, y + title_gap, subtitle, Theme::subtitle_style());
  put(page, body, margin, body_y);
  theme.lines(page.canvas, margin, foot_y, footer, Theme::note_style());
  return page;
}

Panel text_panel(const std::string& text, double width, const Theme& theme) {
  const auto lines = theme.wrap(text, Theme::note_style(), theme.px(width));
  const int height = theme.lines_height(lines, Theme::note_style());
  Panel panel{Canvas(theme.px(width), std::max(height, 1)), 0, 0, {}};
  theme.lines(panel.canvas, 0, 0, lines, Theme::note_style());
  return panel;
}

}  // namespace lookback::plot
