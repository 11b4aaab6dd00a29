// HTML by concatenation: what comes from outside is escaped where it is put in.
#include "tools/report/page.h"

#include <algorithm>
#include <cstdint>

#include "tools/plot/png.h"
#include "tools/report/json.h"
#include "tools/report/page_assets.h"
#include "tools/report/shown_table.h"
#include "tools/text/files.h"
#include "tools/text/html.h"

namespace lookback::tools {
namespace {

using text::html_escaped;

// RFC 4648, section 4.
std::string base64(const std::string& bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t b = 0; b < 3; ++b) {
      group = group << 8 | (b < count ? static_cast<uint8_t>(bytes[i + b]) : 0U);
    }
    for (size_t c = 0; c < 4; ++c) {
      result += c <= count ? kAlphabet[group >> (18 - 6 * c) & 63U] : '=';
    }
  }
  return result;
}

// A frame whose content scrolls sideways where it is wider.
void open_frame(std::string& html, const std::string& kind) {
  html += "<div class=\"frame\"><div class=\"scroll" + kind + "\" tabindex=\"0\">";
}

void close_frame(std::string& html) { html += "</div></div>"; }

void write_figure_html(std::string& html, const Figure& figure, const std::string& folder) {
  const plot::Canvas& canvas = figure.image.canvas;
  const std::string png = folder.empty() ? plot::encode_png(canvas)
                                         : text::read_file(folder + "/" + figure.name + ".png");
  const int scale = plot::Theme().scale();  // of the pictures: pixels for one of the page's
  const std::string width = std::to_string(canvas.width() / scale);
  html += "<figure>";
  open_frame(html, " picture");
  html += "<img alt=\"" + html_escaped(figure.caption) + "\" width=\"" + width + "\" height=\"" +
          std::to_string(canvas.height() / scale) + "\" style=\"--natural: " + width +
          "px\" src=\"data:image/png;base64," + base64(png) + "\">";
  if (!figure.hover.empty()) {
    html += "<script type=\"application/json\">" + hover_json(figure) + "</script>";
  }
  close_frame(html);
  html += "<figcaption>" + html_escaped(figure.caption) + " <span class=\"files\">" +
          html_escaped(figure.name) + ".png, " + html_escaped(figure.name) +
          ".csv</span></figcaption></figure>\n";
}

// " style=..." with the width of Graphviz's picture, <svg width="438pt" ...>; "": not found.
std::string natural_width(const std::string& svg) {
  const std::string attribute = "<svg width=\"";
  const size_t at = svg.find(attribute);
  if (at == std::string::npos) return "";
  const std::string points = svg.substr(at + attribute.size(), 16);
  return " style=\"--natural: " + points.substr(0, points.find('"')) + "\"";
}

void write_drawing_html(std::string& html, const Drawing& drawing) {
  const std::string caption = html_escaped(drawing.caption);
  const std::string name = html_escaped(drawing.name);
  html += "<figure>";
  if (drawing.svg.empty()) {
    html += "<pre>" + html_escaped(drawing.dot) + "</pre>";
  } else {
    open_frame(html, " picture");
    html += "<img alt=\"" + caption + "\"" + natural_width(drawing.svg) +
            " src=\"data:image/svg+xml;base64," + base64(drawing.svg) + "\">";
    close_frame(html);
  }
  html += "<figcaption>" + caption + " <span class=\"files\">" + name + ".dot" +
          (drawing.svg.empty() ? " (Graphviz draws it)" : ", " + name + ".svg") +
          "</span></figcaption></figure>\n";
}

// A shape, [2, 8] or (B, T), stays on one line; sentences get the room to be read.
std::string cell(const std::string& field) {
  const bool keep = field.size() <= 24 && (field.starts_with('[') || field.starts_with('('));
  const char* kind = field.starts_with("FAILED") ? " class=\"bad\""
                     : keep                      ? " class=\"keep\""
                     : field.size() > 40         ? " class=\"words\""
                                                 : "";
  return "<td" + std::string(kind) + ">" + html_escaped(field) + "</td>";
}

bool is_said_once(const Table& table, size_t column) {
  const auto& names = table.said_once;
  return column < table.header.size() &&
         std::find(names.begin(), names.end(), table.header[column]) != names.end();
}

// What a group of rows has in common: "<b>simplex</b> Rows of A ... kind: numerical; ...".
std::string group_heading(const Table& table, const std::vector<std::string>& row) {
  std::string heading;
  std::string rest;
  int said = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    if (!is_said_once(table, c)) continue;
    const std::string text = html_escaped(row[c]);
    if (said == 0) heading = "<b>" + text + "</b>";
    if (said == 1) heading += " " + text;
    if (said > 1) rest += (rest.empty() ? "" : "; ") + html_escaped(table.header[c]) + ": " + text;
    ++said;
  }
  return rest.empty() ? heading : heading + "<br><small>" + rest + "</small>";
}

void write_rows_html(std::string& html, const Table& table) {
  if (!table.header.empty()) {
    html += "<thead><tr>";
    for (size_t c = 0; c < table.header.size(); ++c) {
      if (!is_said_once(table, c)) html += "<th>" + html_escaped(table.header[c]) + "</th>";
    }
    html += "</tr></thead>";
  }
  html += "<tbody>";
  std::string previous;
  for (const auto& row : table.rows) {
    const std::string heading = group_heading(table, row);
    if (heading != previous) {
      html += "</tbody><tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"" +
              std::to_string(row.size() - table.said_once.size()) + "\">" + heading + "</th></tr>";
      previous = heading;
    }
    html += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) {
      if (!is_said_once(table, c)) html += cell(row[c]);
    }
    html += "</tr>";
  }
  html += "</tbody>";
}

void write_table_html(std::string& html, const Table& table, const std::string& file) {
  const std::string caption =
      html_escaped(table.title) +
      (file.empty() ? "" : " <span class=\"files\">" + html_escaped(file) + "</span>");
  html += "<figure>";
  if (!caption.empty()) html += "<figcaption>" + caption + "</figcaption>";
  open_frame(html, "");
  html += table.said_once.empty() ? "<table>" : "<table class=\"grouped\">";
  write_rows_html(html, table);
  html += "</table>";
  close_frame(html);
  html += "</figure>\n";
}

void write_section_html(std::string& html, const Section& section, const std::string& folder) {
  const bool files = !folder.empty();
  html += "<section id=\"" + html_escaped(section.id) + "\"><h2>" + html_escaped(section.title) +
          "</h2>\n";
  html += "<p class=\"claim\">" + html_escaped(section.claim) + "</p>\n";
  for (const Figure& figure : section.figures) write_figure_html(html, figure, folder);
  for (const Drawing& drawing : section.drawings) write_drawing_html(html, drawing);
  if (!section.facts.empty()) {
    html += "<ul class=\"facts\">";
    for (const Fact& fact : section.facts) html += "<li>" + html_escaped(fact.sentence) + "</li>";
    if (files) html += "<li class=\"files\">" + html_escaped(section.id) + "-facts.csv</li>";
    html += "</ul>\n";
  }
  for (const std::string& failure : section.failures) {
    html += "<p class=\"bad\">failed: " + html_escaped(failure) + "</p>\n";
  }
  for (const Table& table : section.tables) {
    write_table_html(html, shown_table(table), files ? table_file(section, table) : "");
  }
  html += "<p class=\"read\"><b>Read</b> <code>" + html_escaped(section.source) +
          "</code></p><p class=\"read\"><b>Draw it again</b> <code>" +
          html_escaped(section.command) + "</code></p>";
  for (const Figure& figure : section.figures) {
    if (figure.command.empty() || figure.command == section.command) continue;
    html += "<p class=\"read\"><code>" + html_escaped(figure.command) + "</code></p>";
  }
  html += "</section>\n";
}

}  // namespace

std::string page(const PageText& text, const std::vector<Section>& sections) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<link rel=\"icon\" href=\"data:,\"><title>" +
      html_escaped(text.title) + "</title><style>" + kPageStyle +
      "</style></head><body>\n<header><h1>" + html_escaped(text.title) + "</h1><p>" +
      html_escaped(text.introduction) + "</p><p class=\"read\"><b>Made by</b> <code>" +
      html_escaped(text.command) + "</code></p></header>\n<nav><ol>";
  for (const Section& section : sections) {
    html += "<li><a href=\"#" + html_escaped(section.id) + "\">" + html_escaped(section.title) +
            "</a>" + (section.ok() ? "" : " <strong class=\"bad\">failed</strong>") + "</li>";
  }
  html += "</ol></nav>\n<main>\n";
  for (const Section& section : sections) write_section_html(html, section, text.folder);
  html += "</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script>";
  html += kPageScript;
  html += "</script></body></html>\n";
  return html;
}

}  // namespace lookback::tools
