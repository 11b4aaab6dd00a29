// What is written as JSON. The library behind it, nlohmann's, stays in json.cpp: its header is
// large.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/report/section.h"

namespace lookback::tools {

using JsonValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;
using JsonObject = std::vector<std::pair<std::string, JsonValue>>;

// The value as a field of a CSV: numbers with all their digits, yes or no.
std::string csv_field(const JsonValue& value);

// A list of flat objects, indented; NaN and infinity become null.
std::string json_list(const std::vector<JsonObject>& objects);

// A section in numbers: its facts, with what was measured in each, its tables and the numbers of
// its figures. A field that reads as a number is one.
std::string section_json(const Section& section);

// What the page's script needs to name the cell under the pointer, safe inside a script element.
std::string hover_json(const Figure& figure);

}  // namespace lookback::tools
