#include "tools/report/section.h"

#include <algorithm>

#include "engine/ops.h"
#include "tools/plot/csv.h"
#include "tools/plot/png.h"

namespace lookback::tools {

namespace {

std::vector<std::string> exact_fields(const Tensor& row) {
  std::vector<std::string> fields;
  if (row.dtype() == DType::f32) {
    for (const float value : row.to_vector<float>()) fields.push_back(plot::exact(value));
  } else {
    for (const double value : row.to_vector<double>()) fields.push_back(plot::exact(value));
  }
  return fields;
}

Table fact_table(const std::vector<Fact>& facts) {
  Table table;
  table.header = {"fact", "quantity", "value"};
  for (const Fact& fact : facts) {
    for (const Number& number : fact.numbers) {
      table.rows.push_back({fact.sentence, number.name, plot::exact(number.value)});
    }
    if (fact.numbers.empty()) table.rows.push_back({fact.sentence, "", ""});
  }
  return table;
}

}  // namespace

Table matrix_table(const Tensor& matrix) {
  const Tensor rows = matrix.dim() == 2 ? matrix.detach() : reshape(matrix.detach(), {1, -1});
  Table table;
  for (int64_t r = 0; r < rows.size(0); ++r) {
    table.rows.push_back(exact_fields(select(rows, 0, r)));
  }
  return table;
}

Table panel_table(const std::vector<std::pair<std::string, Tensor>>& panels) {
  Table table;
  table.header = {"panel", "row"};
  size_t width = 0;
  for (const auto& [name, matrix] : panels) {
    const Table part = matrix_table(matrix);
    for (size_t r = 0; r < part.rows.size(); ++r) {
      std::vector<std::string> row = {name, std::to_string(r)};
      row.insert(row.end(), part.rows[r].begin(), part.rows[r].end());
      width = std::max(width, part.rows[r].size());
      table.rows.push_back(std::move(row));
    }
  }
  for (size_t c = 0; c < width; ++c) table.header.push_back(std::to_string(c));
  for (auto& row : table.rows) row.resize(table.header.size());
  return table;
}

std::vector<double> to_doubles(const Tensor& x) { return x.detach().to_vector<double>(); }

void add_figure(text::StagedFiles& files, const Figure& figure, const std::string& png_path,
                const std::string& csv_path) {
  if (!png_path.empty()) files.add(png_path, plot::encode_png(figure.image.canvas));
  add_table(files, figure.numbers, csv_path);
}

void add_table(text::StagedFiles& files, const Table& table, const std::string& csv_path) {
  if (!csv_path.empty()) files.add(csv_path, plot::csv_text(table.header, table.rows));
}

void write_figure(const Figure& figure, const std::string& png_path, const std::string& csv_path) {
  text::StagedFiles files;
  add_figure(files, figure, png_path, csv_path);
  files.publish();
}

std::string table_file(const Section& section, const Table& table) {
  return section.id + "-" + table.name + ".csv";
}

void write_section(const Section& section, const std::string& folder) {
  text::StagedFiles files;
  for (const Figure& figure : section.figures) {
    const std::string stem = folder + "/" + figure.name;
    add_figure(files, figure, stem + ".png", stem + ".csv");
  }
  for (const Drawing& drawing : section.drawings) {
    const std::string stem = folder + "/" + drawing.name;
    files.add(stem + ".dot", drawing.dot);
    if (!drawing.svg.empty()) files.add(stem + ".svg", drawing.svg);
  }
  for (const auto& tables : {section.tables, section.data}) {
    for (const Table& table : tables) {
      add_table(files, table, folder + "/" + table_file(section, table));
    }
  }
  if (!section.facts.empty()) {
    add_table(files, fact_table(section.facts), folder + "/" + section.id + "-facts.csv");
  }
  files.publish();
}

}  // namespace lookback::tools
