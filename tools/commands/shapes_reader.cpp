// A small reader of Markdown tables, and where the quoted lines of code stand.
#include "tools/commands/shapes_reader.h"

#include <sstream>
#include <stdexcept>
#include <string_view>

#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

constexpr const char* kTables = "attention/SHAPES.md";

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The rows of the table under "## heading", without its two header lines.
std::vector<std::vector<std::string>> table_under(const std::string& heading) {
  std::istringstream text{std::string(text::sources().at(kTables))};
  std::string line;
  while (std::getline(text, line) && line != "## " + heading) continue;
  std::vector<std::vector<std::string>> rows;
  while (std::getline(text, line) && line.rfind("## ", 0) != 0) {
    if (line.empty() || line[0] != '|') continue;
    std::vector<std::string> row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trimmed(cell));
    rows.push_back(std::move(row));
  }
  if (rows.size() < 3) throw std::logic_error("SHAPES.md has no table '" + heading + "'");
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

// Where a quoted line, `like this`, stands; the quotation itself if no source has it any more.
std::string place_of(const std::string& quote) {
  const std::string code = quote.substr(1, quote.size() - 2);
  for (const char* file : {"attention/multi_head.cpp", "attention/scaled_dot_product.cpp"}) {
    if (text::line_of_code(text::sources().at(file), code) > 0) return text::code_at(file, code);
  }
  return quote;
}

// A bias may be missing, and merging heads needs no copy when there is one head or one token.
bool may_be_missing(const std::string& op) { return op == "add" || op == "clone"; }

}  // namespace

ShapesReader::ShapesReader(const std::string& layer)
    : table_("SHAPES.md, '" + layer + ": forward pass'"),
      ops_(table_under(layer + ": forward pass")) {
  for (const Row& row : table_under(layer + ": inputs")) inputs_[row.at(0)] = row.at(1);
}

ShapesReader::Op ShapesReader::next(const std::string& op) {
  while (position_ < ops_.size() && ops_[position_].at(0) != op &&
         may_be_missing(ops_[position_].at(0))) {
    ++position_;
  }
  if (position_ == ops_.size()) {
    throw std::logic_error(table_ + " ends where the code records '" + op + "'");
  }
  if (ops_[position_].at(0) != op) {
    throw std::logic_error(table_ + ", row " + std::to_string(position_ + 1) + ", expects '" +
                           ops_[position_].at(0) + "', the code records '" + op + "'");
  }
  const Row& row = ops_[position_++];
  return {row.at(1), row.at(3), place_of(row.at(4))};
}

void ShapesReader::finish() const {
  for (size_t i = position_; i < ops_.size(); ++i) {
    if (may_be_missing(ops_[i].at(0))) continue;
    throw std::logic_error(table_ + ", row " + std::to_string(i + 1) + ", expects '" +
                           ops_[i].at(0) + "', the code records nothing more");
  }
}

}  // namespace lookback::tools
