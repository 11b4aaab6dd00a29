// Section: what an experiment has to tell, in memory. A command writes its one figure to files;
// the lab writes them all, and a page that tells the story.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tensor.h"
#include "tools/plot/panel.h"
#include "tools/text/files.h"

namespace lookback::tools {

// Numbers or text in rows; fields with full precision (plot::exact).
struct Table {
  std::string title;
  std::vector<std::string> header;  // may be empty
  std::vector<std::vector<std::string>> rows;
  std::string name = "table";  // of its file in the report: "nodes" gives graph-nodes.csv
  // Columns that say the same in one row after another. A page says it once, above those rows.
  std::vector<std::string> said_once{};
};

// A (rows, columns) matrix, or a (n) vector as one row, as a table without header.
Table matrix_table(const Tensor& matrix);
// Several matrices, or vectors as one row, in one table: a column that names the panel, one that
// numbers its rows from 0, and the values.
Table panel_table(const std::vector<std::pair<std::string, Tensor>>& panels);
std::vector<double> to_doubles(const Tensor& x);

// A measured sentence, "row sums are 1 within 2e-7", and the numbers in it with all their digits.
struct Number {
  std::string name;
  double value;
};

struct Fact {
  Fact(std::string words, std::vector<Number> measured = {})
      : sentence(std::move(words)), numbers(std::move(measured)) {}
  std::string sentence;
  std::vector<Number> numbers;
};

// What stands under the pointer in one matrix of a picture; in the order of Panel::areas.
struct HoverMatrix {
  std::vector<std::string> row_labels;
  std::vector<std::string> column_labels;
  std::vector<double> values;  // row-major
  std::string row_title = "query";
  std::string column_title = "key";
  int64_t first_row = 0;             // the number of the first row
  std::vector<std::string> texts{};  // what to show in place of the values; empty: the values
};

struct Figure {
  std::string name;     // of its files: "heatmap" gives heatmap.png and heatmap.csv
  std::string caption;  // one or two sentences: what to see
  plot::Panel image;
  Table numbers;                   // what is drawn
  std::vector<HoverMatrix> hover;  // empty: nothing to hover
  std::string command;             // that draws it; empty: the section's
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
  std::vector<Table> tables;  // shown in the page
  std::vector<Table> data;    // further numbers behind it: files only
  std::vector<Fact> facts;
  std::string source;                 // where to read: "attention/head.cpp, Head::forward"
  std::string command;                // what draws it again: "lookback heatmap --seed 1 ..."
  std::vector<std::string> failures;  // what did not hold; the program then exits with 1
  bool ok() const { return failures.empty(); }
};

// Stages a picture and its numbers, or a table. An empty path: not that one.
void add_figure(text::StagedFiles& files, const Figure& figure, const std::string& png_path,
                const std::string& csv_path);
void add_table(text::StagedFiles& files, const Table& table, const std::string& csv_path);
// The picture and its numbers, both or neither.
void write_figure(const Figure& figure, const std::string& png_path, const std::string& csv_path);
// Everything in an existing folder: name.png and name.csv of each figure, id-name.csv of each
// table, id-facts.csv.
void write_section(const Section& section, const std::string& folder);
std::string table_file(const Section& section, const Table& table);  // "graph-nodes.csv"

}  // namespace lookback::tools
