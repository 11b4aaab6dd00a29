// lookback prove: the theorem ledger, a line per theorem, checked on the library itself.
#include <memory>
#include <ostream>

#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/report/json.h"
#include "tools/report/page.h"
#include "tools/text/files.h"
#include "tools/text/sources.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

struct Line {
  const Theorem* theorem;
  std::string path;  // which implementation
  Outcome outcome;
};

std::vector<Line> ledger(uint64_t seed) {
  const std::vector<Subject> subjects = {library_subject(false), library_subject(true),
                                         library_subject(true, true)};
  const std::vector<std::string> paths = {"composed", "fused", "fused, weights asked for"};
  std::vector<Line> lines;
  for (const Theorem& theorem : theorems()) {
    for (size_t s = 0; s < subjects.size(); ++s) {
      if (s > 0 && !theorem.multi_head) continue;  // says nothing of the multi-head paths
      lines.push_back({&theorem, theorem.multi_head ? paths[s] : "all",
                       check_theorem(theorem, subjects[s], seed)});
    }
  }
  return lines;
}

std::string residual_text(const Line& line) {
  const std::string note = line.outcome.note.empty() ? "" : "; " + line.outcome.note;
  if (line.theorem->structural) {
    return std::to_string(line.outcome.differing) + " differ";
  }
  return plot::format_number(line.outcome.residual, 2) + " of " +
         plot::format_number(line.theorem->tolerance, 2) + " allowed" + note;
}

Table ledger_table(const std::vector<Line>& lines) {
  Table table;
  table.name = "ledger";
  table.header = {"theorem",  "path",       "verdict",   "residual",      "kind",
                  "compared", "checked on", "statement", "counterexample"};
  for (const Line& line : lines) {
    const Theorem& t = *line.theorem;
    table.rows.push_back({t.id, line.path, line.outcome.ok ? "proved" : "FAILED",
                          residual_text(line), t.structural ? "structural" : "numerical",
                          std::to_string(line.outcome.compared), t.shapes, t.statement,
                          line.outcome.witness});
  }
  return table;
}

Table measured_table(const std::vector<Line>& lines) {
  Table table;
  table.name = "measured";
  table.header = {"theorem", "path", "proved", "compared", "differing", "residual", "tolerance"};
  for (const Line& line : lines) {
    table.rows.push_back(
        {line.theorem->id, line.path, line.outcome.ok ? "yes" : "no",
         std::to_string(line.outcome.compared), std::to_string(line.outcome.differing),
         plot::exact(line.outcome.residual), plot::exact(line.theorem->tolerance)});
  }
  return table;
}

std::string ledger_json(uint64_t seed) {
  std::vector<JsonObject> list;
  for (const Line& line : ledger(seed)) {
    const Theorem& t = *line.theorem;
    list.push_back({{"id", t.id},
                    {"path", line.path},
                    {"statement", t.statement},
                    {"shapes", t.shapes},
                    {"seed", seed},
                    {"kind", std::string(t.structural ? "structural" : "numerical")},
                    {"tolerance", t.tolerance},
                    {"compared", line.outcome.compared},
                    {"residual", line.outcome.residual},
                    {"differing", line.outcome.differing},
                    {"note", line.outcome.note},
                    {"proved", line.outcome.ok},
                    {"counterexample", line.outcome.witness}});
  }
  return json_list(list);
}

}  // namespace

Section prove_section(uint64_t seed, const std::string& command) {
  const std::vector<Line> lines = ledger(seed);
  int64_t proved = 0;
  int64_t compared = 0;
  Section section;
  for (const Line& line : lines) {
    proved += line.outcome.ok ? 1 : 0;
    compared += line.outcome.compared;
    if (line.outcome.ok) continue;
    section.failures.push_back("theorem '" + line.theorem->id + "' (path: " + line.path +
                               ") fails: " + line.outcome.witness);
  }
  section.id = "prove";
  section.title = "The theorem ledger";
  section.claim =
      "Each line states a theorem about attention and checks it with numbers substituted. A "
      "structural equality holds to the last bit, whatever the weights; a numerical one holds "
      "within rounding, and the tolerance is stated.";
  section.facts = {{std::to_string(proved) + " of " + std::to_string(lines.size()) +
                        " lines proved, " + std::to_string(compared) + " numbers compared, seed " +
                        std::to_string(seed),
                    {{"lines proved", static_cast<double>(proved)},
                     {"lines", static_cast<double>(lines.size())},
                     {"numbers compared", static_cast<double>(compared)}}}};
  section.tables = {ledger_table(lines)};
  section.data = {measured_table(lines)};
  section.source = text::definition_at("tools/theorems/theorem.h", "Theorem");
  for (const std::string family : {"simplex_theorems", "causality_theorems", "equality_theorems"}) {
    section.source += "; " + text::definition_at("tools/theorems/" + family + ".cpp", family);
  }
  section.command = command;
  return section;
}

void add_prove(Program& program) {
  struct Options {
    uint64_t seed = 1;
    std::string json;
    std::string html;
    OutputOptions output;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_command(
      program, "prove", "Check every theorem about attention; exit 1 if one fails",
      [options](Program& p) {
        const Section section = prove_section(options->seed, p.command_line);
        if (!options->output.csv.empty()) write_table(section.tables[0], options->output.csv);
        if (!options->json.empty()) text::write_file(options->json, ledger_json(options->seed));
        if (!options->html.empty()) {
          text::write_file(options->html,
                           page({section.title, section.claim, p.command_line, false}, {section}));
        }
        print_section(p.out, section);
        return report_failures(p.err, section);
      });
  add_seed_option(command, options->seed);
  command.output("--csv", options->output.csv, "The ledger as CSV", kCsvNames);
  command.output("--json", options->json, "The ledger as JSON", {".json", ".txt"});
  command.output("--out", options->html, "The ledger as a page (HTML)", kHtmlNames);
}

}  // namespace lookback::tools
