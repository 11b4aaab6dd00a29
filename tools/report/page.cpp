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

void write_figure_html(std::string& html, const Figure& figure, const std::string& folder) {
  const plot::Canvas& canvas = figure.image.canvas;
  const std::string png = folder.empty() ? plot::encode_png(canvas)
                                         : text::read_file(folder + "/" + figure.name + ".png");
  const int scale = plot::Theme().scale();  // of the pictures: pixels for one of the page's
  const std::string width = std::to_string(canvas.width() / scale);
  html += "<figure><div class=\"picture\"><img alt=\"" + html_escaped(figure.caption) +
          "\" width=\"" + width + "\" height=\"" + std::to_string(canvas.height() / scale) +
          "\" style=\"--natural: " + width + "px\" src=\"data:image/png;base64," + base64(png) +
          "\">";
  if (!figure.hover.empty()) {
    html += "<script type=\"application/json\">" + hover_json(figure) + "</script>";
  }
  html += "</div><figcaption>" + html_escaped(figure.caption) + " <span class=\"files\">" +
          html_escaped(figure.name) + ".png, " + html_escaped(figure.name) +
          ".csv</span></figcaption></figure>\n";
}

void write_drawing_html(std::string& html, const Drawing& drawing) {
  const std::string caption = html_escaped(drawing.caption);
  const std::string name = html_escaped(drawing.name);
  html += "<figure>";
  if (drawing.svg.empty()) {
    html += "<pre>" + html_escaped(drawing.dot) + "</pre>";
  } else {
    html += "<div class=\"picture\"><img alt=\"" + caption + "\" src=\"data:image/svg+xml;base64," +
            base64(drawing.svg) + "\"></div>";
  }
  html += "<figcaption>" + caption + " <span class=\"files\">" + name + ".dot" +
          (drawing.svg.empty() ? " (Graphviz draws it)" : ", " + name + ".svg") +
          "</span></figcaption></figure>\n";
}

// A shape, [2, 8] or (B, T), stays on one line.
std::string cell(const std::string& field) {
  const bool keep = field.size() <= 24 && (field.starts_with('[') || field.starts_with('('));
  return (keep ? "<td class=\"keep\">" : "<td>") + html_escaped(field) + "</td>";
}

void write_table_html(std::string& html, const Table& table, const std::string& file) {
  html += "<div class=\"scroll\"><table>";
  const std::string caption =
      html_escaped(table.title) +
      (file.empty() ? "" : " <span class=\"files\">" + html_escaped(file) + "</span>");
  if (!caption.empty()) html += "<caption>" + caption + "</caption>";
  if (!table.header.empty()) {
    html += "<thead><tr>";
    for (const std::string& field : table.header) html += "<th>" + html_escaped(field) + "</th>";
    html += "</tr></thead>";
  }
  html += "<tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& field : row) html += cell(field);
    html += "</tr>";
  }
  html += "</tbody></table></div>\n";
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
