// JSON by nlohmann's library.
#include "tools/report/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/plot/axis.h"
#include "tools/plot/csv.h"

namespace lookback::tools {

namespace {

nlohmann::json field_value(const std::string& field) {
  double number = 0;
  const char* const end = field.data() + field.size();
  const auto [stopped, error] = std::from_chars(field.data(), end, number);
  if (error == std::errc() && stopped == end && std::isfinite(number)) return number;
  return field;
}

nlohmann::json table_value(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& row : table.rows) {
    nlohmann::json fields = nlohmann::json::array();
    for (const std::string& field : row) fields.push_back(field_value(field));
    rows.push_back(std::move(fields));
  }
  return {{"columns", table.header}, {"rows", std::move(rows)}};
}

}  // namespace

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

std::string section_json(const Section& section) {
  nlohmann::ordered_json json = {{"id", section.id},         {"title", section.title},
                                 {"claim", section.claim},   {"command", section.command},
                                 {"source", section.source}, {"failures", section.failures}};
  nlohmann::json facts = nlohmann::json::array();
  for (const Fact& fact : section.facts) {
    nlohmann::json numbers = nlohmann::json::object();
    for (const Number& number : fact.numbers) numbers[number.name] = number.value;
    facts.push_back({{"sentence", fact.sentence}, {"numbers", std::move(numbers)}});
  }
  json["facts"] = std::move(facts);
  json["tables"] = nlohmann::json::object();
  for (const auto& tables : {section.tables, section.data}) {
    for (const Table& table : tables) json["tables"][table.name] = table_value(table);
  }
  json["figures"] = nlohmann::json::object();
  for (const Figure& figure : section.figures) {
    json["figures"][figure.name] = table_value(figure.numbers);
  }
  return json.dump(1) + "\n";
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
