// Copies of a tensor's numbers, as doubles.
#include "tools/report/panels.h"

namespace lookback::tools {

plot::Heatmap matrix_panel(const Tensor& matrix, const std::vector<std::string>& row_labels,
                           const std::vector<std::string>& column_labels, const std::string& title,
                           const std::string& caption) {
  plot::Heatmap heatmap;
  heatmap.rows = matrix.size(0);
  heatmap.columns = matrix.size(1);
  heatmap.values = to_doubles(matrix);
  heatmap.row_labels = row_labels;
  heatmap.column_labels = column_labels;
  heatmap.title = title;
  heatmap.caption = caption;
  return heatmap;
}

plot::ColorScale weight_scale(int64_t T) {
  constexpr int64_t kLongestLinear = 32;
  plot::ColorScale scale;
  scale.log = T > kLongestLinear;
  if (scale.log) scale.title = "attention weight, logarithmic";
  return scale;
}

HoverMatrix hover_matrix(const Tensor& matrix, const std::vector<std::string>& row_labels,
                         const std::vector<std::string>& column_labels) {
  return {row_labels, column_labels, to_doubles(matrix)};
}

}  // namespace lookback::tools
