// Section: what an experiment has to tell, in memory. A command writes its one figure to files;
// the lab writes them all, and a page that tells the story.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "tools/plot/panel.h"

namespace lookback::tools {

// Numbers or text in rows; fields with full precision (plot::exact).
struct Table {
  std::string title;
  std::vector<std::string> header;  // may be empty
  std::vector<std::vector<std::string>> rows;
};

// A (rows, columns) matrix, or a (n) vector as one row, as a table without header.
Table matrix_table(const Tensor& matrix);
std::vector<double> to_doubles(const Tensor& x);

// What stands under the pointer in one matrix of a picture; in the order of Panel::areas.
struct HoverMatrix {
  std::vector<std::string> row_labels;
  std::vector<std::string> column_labels;
  std::vector<double> values;  // row-major
};

struct Figure {
  std::string name;     // of its files: "heatmap" gives heatmap.png and heatmap.csv
  std::string caption;  // one or two sentences: what to see
  plot::Panel image;
  Table numbers;                   // what is drawn
  std::vector<HoverMatrix> hover;  // empty: nothing to hover
};

// A graph, laid out by Graphviz rather than by us.
struct Drawing {
  std::string name;  // of its files: name.dot and, if there is an svg, name.svg
  std::string caption;
  std::string dot;
  std::string svg;  // empty: Graphviz is not installed; then the DOT text is shown
};

struct Section {
  std::string id;     // "heatmap": anchor in the page
  std::string title;  // "Attention on real text"
  std::string claim;  // what is claimed or asked, in a paragraph
  std::vector<Figure> figures;
  std::vector<Drawing> drawings;
  std::vector<Table> tables;       // shown in the page
  std::vector<std::string> facts;  // measured sentences: "row sums are 1 within 2e-7"
  std::string source;              // where to read: "attention/head.cpp, Head::forward"
  std::string command;             // what draws it again: "lookback heatmap --seed 1 ..."
  bool ok = true;                  // false: a proof failed; the program then exits with 1
};

// Writes the picture and its numbers (an empty path: not that one), both or neither.
void write_figure(const Figure& figure, const std::string& png_path, const std::string& csv_path);
void write_table(const Table& table, const std::string& csv_path);

}  // namespace lookback::tools
