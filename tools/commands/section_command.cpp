// Tables for a terminal, and the frame of most commands.
#include "tools/commands/section_command.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <sstream>

#include "tools/report/json.h"
#include "tools/report/shown_table.h"
#include "tools/text/files.h"
#include "tools/text/utf8.h"

namespace lookback::tools {
namespace {

size_t width_of(const std::string& field) { return text::decode_utf8_or_replace(field).size(); }

constexpr size_t kLineWidth = 100;  // of a terminal
constexpr size_t kNarrow = 20;      // a column that is not broken: numbers, names, shapes
constexpr size_t kGap = 2;          // between columns

// Lines of at most `width` characters, broken at spaces; a longer word stays whole.
std::vector<std::string> wrap(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = width_of(lines.back()) + 1 + width_of(word) <= width;
    if (!lines.back().empty() && !fits) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

// As wide as their longest cells; the widest columns give way, between words, until a line fits
// the terminal.
std::vector<size_t> column_widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  std::vector<size_t> least;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    least.resize(widths.size(), kNarrow);
    for (size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], width_of(row[c]));
      for (const std::string& word : wrap(row[c], 1)) least[c] = std::max(least[c], width_of(word));
    }
  }
  size_t total = 0;
  for (const size_t width : widths) total += width + kGap;
  for (; total > kLineWidth + kGap; --total) {
    size_t widest = widths.size();
    for (size_t c = 0; c < widths.size(); ++c) {
      const bool wider = widest == widths.size() || widths[c] > widths[widest];
      if (widths[c] > least[c] && wider) widest = c;
    }
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

void print_row(std::ostream& out, const std::vector<std::string>& row,
               const std::vector<size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    cells.push_back(wrap(row[c], widths[c]));
    height = std::max(height, cells.back().size());
  }
  for (size_t i = 0; i < height; ++i) {
    std::string line;
    size_t column = 0;
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string cell = i < cells[c].size() ? cells[c][i] : "";
      const size_t reached = width_of(line);
      line += std::string(column > reached ? column - reached : 0, ' ') + cell;
      column += widths[c] + kGap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void print_table(std::ostream& out, const Table& table) {
  std::vector<std::vector<std::string>> rows = table.rows;
  if (!table.header.empty()) rows.insert(rows.begin(), table.header);
  const std::vector<size_t> widths = column_widths(rows);
  if (!table.title.empty()) out << '\n' << table.title << '\n';
  for (const auto& row : rows) print_row(out, row, widths);
}

}  // namespace

void print_section(std::ostream& out, const Section& section) {
  out << section.title << '\n';
  for (const Fact& fact : section.facts) out << "  " << fact.sentence << '\n';
  for (const Table& table : section.tables) print_table(out, shown_table(table));
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
  struct Output {
    OutputOptions figure;
    std::string json;
  };
  const auto output = std::make_shared<Output>();
  CommandLine command =
      add_command(program, name, sentence, [output, make = std::move(make)](Program& p) {
        const Section section = make(p.command_line);
        const bool wanted = !output->figure.png.empty() || !output->figure.csv.empty();
        if (wanted && section.figures.empty()) {
          throw UsageError("there is no figure to write to --out or --csv");
        }
        text::StagedFiles files;
        if (wanted) add_figure(files, section.figures[0], output->figure.png, output->figure.csv);
        if (!output->json.empty()) files.add(output->json, section_json(section));
        files.publish();
        print_section(p.out, section);
        return report_failures(p.err, section);
      });
  add_output_options(command, output->figure);
  command.output("--json", output->json, "Everything that was measured, and the tables, as JSON",
                 kJsonNames);
  return command;
}

void add_text_section_command(Program& program, const std::string& name,
                              const std::string& sentence,
                              Section (*make)(const TextOptions& text, uint64_t seed,
                                              const std::string& command)) {
  struct Options {
    TextOptions text;
    uint64_t seed = 1;
  };
  const auto options = std::make_shared<Options>();
  const CommandLine command =
      add_section_command(program, name, sentence, [options, make](const std::string& line) {
        return make(options->text, options->seed, line);
      });
  add_text_options(command, options->text);
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
