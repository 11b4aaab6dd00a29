// JSON by nlohmann's library.
#include "tools/report/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/plot/axis.h"
#include "tools/plot/csv.h"

namespace lookback::tools {

std::string csv_field(const JsonValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* number = std::get_if<double>(&value)) return plot::exact(*number);
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return std::to_string(*count);
  return std::to_string(std::get<std::int64_t>(value));
}

std::string json_list(const std::vector<JsonObject>& objects) {
  nlohmann::json list = nlohmann::json::array();
  for (const JsonObject& object : objects) {
    nlohmann::json& entry = list.emplace_back(nlohmann::json::object());
    for (const auto& [name, value] : object) {
      std::visit([&entry, &key = name](const auto& v) { entry[key] = v; }, value);
    }
  }
  return list.dump(2) + "\n";
}

// For each matrix its cells in the picture, labels and values. A value is written with five digits;
// the CSV beside the picture has them all.
std::string hover_json(const Figure& figure) {
  nlohmann::json matrices = nlohmann::json::array();
  const size_t count = std::min(figure.hover.size(), figure.image.areas.size());
  for (size_t m = 0; m < count; ++m) {
    const plot::CellArea& area = figure.image.areas[m];
    nlohmann::json values = nlohmann::json::array();
    const HoverMatrix& hover = figure.hover[m];
    for (const double value : hover.values) values.push_back(plot::format_number(value, 5));
    if (!hover.texts.empty()) values = hover.texts;
    matrices.push_back({{"x", area.x},
                        {"y", area.y},
                        {"w", area.cell_width},
                        {"h", area.cell_height},
                        {"rows", area.rows},
                        {"columns", area.columns},
                        {"row", hover.row_title},
                        {"column", hover.column_title},
                        {"first", hover.first_row},
                        {"rowLabels", hover.row_labels},
                        {"columnLabels", hover.column_labels},
                        {"values", values}});
  }
  std::string text = matrices.dump();
  // "</" would end the script element that holds this.
  for (size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3)) {
    text.replace(at, 2, "<\\/");
  }
  return text;
}

}  // namespace lookback::tools
