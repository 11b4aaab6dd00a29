// From tensors to panels and hover data.
#pragma once

#include <string>
#include <vector>

#include "engine/tensor.h"
#include "tools/plot/heatmap.h"
#include "tools/report/section.h"

namespace lookback::tools {

// A (T, T) or (Tq, Tk) matrix with its token labels (empty: positions).
plot::Heatmap matrix_panel(const Tensor& matrix, const std::vector<std::string>& row_labels,
                           const std::vector<std::string>& column_labels,
                           const std::string& title = "", const std::string& caption = "");
// The colours of attention weights. Row i of T shares a mass of 1 among i + 1 keys: past some T
// only a logarithmic scale shows the first rows and the last.
plot::ColorScale weight_scale(int64_t T);
HoverMatrix hover_matrix(const Tensor& matrix, const std::vector<std::string>& row_labels,
                         const std::vector<std::string>& column_labels);

}  // namespace lookback::tools
