// Looks for code without its spaces, and for definitions at the left margin.
#include "tools/text/sources.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace lookback::text {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// `name` in `line`, followed by `next`, and not the end of a longer or a member's name.
bool mentions(std::string_view line, std::string_view name, char next) {
  for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool begins = at == 0 || !(is_word(line[at - 1]) || line[at - 1] == ':');
    if (begins && end < line.size() && line[end] == next) return true;
  }
  return false;
}

// What begins at the left margin: our namespaces are not indented, bodies are.
bool introduces(std::string_view line, std::string_view name) {
  if (line.empty() || !(std::isalpha(static_cast<unsigned char>(line[0])) != 0)) return false;
  if (line.starts_with("struct ") || line.starts_with("class ")) return mentions(line, name, ' ');
  return mentions(line, name, '(');
}

// A file that is not embedded has no lines.
std::string_view source(const std::string& file) {
  const auto found = sources().find(file);
  return found == sources().end() ? std::string_view() : found->second;
}

std::string at_line(const std::string& file, int64_t line) {
  return line == 0 ? file : file + ":" + std::to_string(line);
}

}  // namespace

int64_t line_of_code(std::string_view text, std::string_view code) {
  std::string wanted;
  for (const char c : code) {
    if (!is_space(c)) wanted += c;
  }
  std::string packed;          // the text without spaces,
  std::vector<int64_t> lines;  // and where each of its characters was
  int64_t line = 1;
  for (const char c : text) {
    if (!is_space(c)) {
      packed += c;
      lines.push_back(line);
    }
    line += c == '\n' ? 1 : 0;
  }
  const size_t at = packed.find(wanted);
  return at == std::string::npos || wanted.empty() ? 0 : lines[at];
}

int64_t line_of_definition(std::string_view text, std::string_view name) {
  int64_t number = 0;
  int64_t declared = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!introduces(line, name)) continue;
    if (!line.ends_with(';')) return number;
    if (declared == 0) declared = number;
  }
  return declared;
}

std::string code_at(const std::string& file, const std::string& code) {
  return at_line(file, line_of_code(source(file), code));
}

std::string definition_at(const std::string& file, const std::string& name) {
  return at_line(file, line_of_definition(source(file), name)) + ", " + name;
}

}  // namespace lookback::text
