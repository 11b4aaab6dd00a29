#include "tools/report/section.h"

#include "engine/ops.h"
#include "tools/plot/csv.h"
#include "tools/plot/png.h"
#include "tools/text/files.h"

namespace lookback::tools {

Table matrix_table(const Tensor& matrix) {
  const Tensor rows = matrix.dim() == 2 ? matrix.detach() : reshape(matrix.detach(), {1, -1});
  Table table;
  for (int64_t r = 0; r < rows.size(0); ++r) {
    std::vector<std::string> fields;
    const Tensor row = select(rows, 0, r);
    if (rows.dtype() == DType::f32) {
      for (const float value : row.to_vector<float>()) fields.push_back(plot::exact(value));
    } else {
      for (const double value : row.to_vector<double>()) fields.push_back(plot::exact(value));
    }
    table.rows.push_back(std::move(fields));
  }
  return table;
}

std::vector<double> to_doubles(const Tensor& x) { return x.detach().to_vector<double>(); }

void write_figure(const Figure& figure, const std::string& png_path, const std::string& csv_path) {
  const std::string png = png_path.empty() ? "" : plot::encode_png(figure.image.canvas);
  if (!png_path.empty()) text::check_writable(png_path);
  if (!csv_path.empty()) write_table(figure.numbers, csv_path);
  if (!png_path.empty()) text::write_file(png_path, png);
}

void write_table(const Table& table, const std::string& csv_path) {
  plot::write_csv_table(csv_path, table.header, table.rows);
}

}  // namespace lookback::tools
