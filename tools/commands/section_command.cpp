#include "tools/commands/section_command.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "tools/text/utf8.h"

namespace lookback::tools {
namespace {

size_t width_of(const std::string& field) { return text::decode_utf8_or_replace(field).size(); }

void print_table(std::ostream& out, const Table& table) {
  std::vector<std::vector<std::string>> lines = table.rows;
  if (!table.header.empty()) lines.insert(lines.begin(), table.header);
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], width_of(line[c]));
  }
  if (!table.title.empty()) out << '\n' << table.title << '\n';
  for (const auto& line : lines) {
    std::string text;
    for (size_t c = 0; c < line.size(); ++c) {
      text += line[c] + std::string(widths[c] - width_of(line[c]) + 2, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  }
}

}  // namespace

void print_section(std::ostream& out, const Section& section) {
  out << section.title << '\n';
  for (const Fact& fact : section.facts) out << "  " << fact.sentence << '\n';
  for (const Table& table : section.tables) print_table(out, table);
}

int report_failures(std::ostream& err, const Section& section) {
  for (const std::string& failure : section.failures) {
    err << "lookback: " << section.id << ": " << failure << '\n';
  }
  return section.ok() ? 0 : 1;
}

CommandLine add_section_command(Program& program, const std::string& name,
                                const std::string& sentence,
                                std::function<Section(const std::string& command)> make) {
  const auto output = std::make_shared<OutputOptions>();
  const CommandLine command =
      add_command(program, name, sentence, [output, make = std::move(make)](Program& p) {
        const Section section = make(p.command_line);
        if (!section.figures.empty()) write_figure(section.figures[0], output->png, output->csv);
        print_section(p.out, section);
        return report_failures(p.err, section);
      });
  add_output_options(command, *output);
  return command;
}

}  // namespace lookback::tools
