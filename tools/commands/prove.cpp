// lookback prove: the theorem ledger, a line per theorem, checked on the library itself.
#include <memory>
#include <optional>
#include <ostream>

#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/report/json.h"
#include "tools/report/page.h"
#include "tools/text/files.h"
#include "tools/text/sources.h"
#include "tools/theorems/ledger.h"

namespace lookback::tools {
namespace {

// For the page.
Table ledger_table(const std::vector<LedgerLine>& lines) {
  Table table;
  table.name = "ledger";
  table.header = {"theorem", "statement", "kind",     "path",
                  "verdict", "residual",  "compared", "checked on"};
  table.said_once = {"theorem", "statement", "kind", "checked on"};
  for (const LedgerLine& line : lines) {
    const Theorem& t = *line.theorem;
    const std::string note = line.outcome.note.empty() ? "" : "; " + line.outcome.note;
    table.rows.push_back({t.id, t.statement, structural(t) ? "structural" : "numerical",
                          line.path.empty() ? "all" : line.path,
                          line.outcome.ok ? "proved" : "FAILED: " + line.outcome.witness,
                          residual(line) + note, std::to_string(line.outcome.compared), shapes(t)});
  }
  return table;
}

// For programs: a line for each theorem and path, with everything that is known of it.
JsonObject fields(const LedgerLine& line) {
  const Theorem& t = *line.theorem;
  return {{"theorem", t.id},
          {"statement", t.statement},
          {"kind", std::string(structural(t) ? "structural" : "numerical")},
          {"shapes", shapes(t)},
          {"seed", line.seed},
          {"path", line.path.empty() ? "all" : line.path},
          {"proved", line.outcome.ok},
          {"compared", line.outcome.compared},
          {"differing", line.outcome.differing},
          {"residual", line.outcome.residual},
          {"tolerance", t.tolerance},
          {"unit", unit(t)},
          {"difference", line.outcome.difference},
          {"note", line.outcome.note},
          {"counterexample", line.outcome.witness}};
}

Table measured_table(const std::vector<LedgerLine>& lines) {
  Table table;
  table.name = "measured";
  for (const LedgerLine& line : lines) {
    table.header.clear();
    table.rows.emplace_back();
    for (const auto& [name, value] : fields(line)) {
      table.header.push_back(name);
      table.rows.back().push_back(csv_field(value));
    }
  }
  return table;
}

std::string ledger_json(const std::vector<LedgerLine>& lines) {
  std::vector<JsonObject> list;
  for (const LedgerLine& line : lines) list.push_back(fields(line));
  return json_list(list);
}

// For a terminal: a theorem is two lines of words and a line for each path.
void print_ledger(std::ostream& out, const std::vector<LedgerLine>& lines) {
  const Theorem* previous = nullptr;
  for (const LedgerLine& line : lines) {
    const Theorem& t = *line.theorem;
    if (&t != previous) {
      out << '\n'
          << t.id << ": " << t.statement << '\n'
          << "  " << (structural(t) ? "structural" : "numerical") << "; " << shapes(t) << '\n';
    }
    previous = &t;
    out << "  " << (line.outcome.ok ? "proved" : "FAILED") << "  "
        << (line.path.empty() ? "" : line.path + ": ") << residual(line) << ", "
        << line.outcome.compared << " compared"
        << (line.outcome.note.empty() ? "" : "; " + line.outcome.note) << '\n';
  }
}

Section ledger_section(const std::vector<LedgerLine>& lines, const std::string& command) {
  int64_t proved = 0;
  int64_t compared = 0;
  Section section;
  for (const LedgerLine& line : lines) {
    proved += line.outcome.ok ? 1 : 0;
    compared += line.outcome.compared;
    if (line.outcome.ok) continue;
    section.failures.push_back("theorem '" + line.theorem->id + "' fails" +
                               (line.path.empty() ? "" : " (" + line.path + ")") + ": " +
                               line.outcome.witness);
  }
  section.id = "prove";
  section.title = "The theorem ledger";
  section.claim =
      "Each line states a theorem about attention and checks it with numbers substituted. A "
      "structural equality holds to the last bit, whatever the weights; a numerical one holds "
      "within rounding, counted in ulp, units in the last place of the largest number compared, or "
      "within what finite differences and samples allow. Attention is checked in single and in "
      "double precision unless a line says f64. Checking is not proving for all numbers: another "
      "--seed takes others.";
  section.facts = {{std::to_string(proved) + " of " + std::to_string(lines.size()) +
                        " lines proved, " + std::to_string(compared) + " numbers compared, seed " +
                        std::to_string(lines.at(0).seed),
                    {{"lines proved", static_cast<double>(proved)},
                     {"lines", static_cast<double>(lines.size())},
                     {"numbers compared", static_cast<double>(compared)}}}};
  section.tables = {ledger_table(lines)};
  section.data = {measured_table(lines)};
  section.source = text::definition_at("tools/theorems/theorem.h", "Theorem");
  for (const std::string family : {"simplex_theorems", "definition_theorems", "derivative_theorems",
                                   "causality_theorems", "equality_theorems"}) {
    section.source += "; " + text::definition_at("tools/theorems/" + family + ".cpp", family);
  }
  section.command = command;
  return section;
}

}  // namespace

Section prove_section(uint64_t seed, const std::string& command) {
  return ledger_section(ledger(library_paths(), seed), command);
}

void add_prove(Program& program) {
  struct Options {
    uint64_t seed = 1;
    std::optional<std::string> mutant;
    std::string json;
    std::string html;
    OutputOptions output;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_command(
      program, "prove", "Check every theorem about attention; exit 1 if one fails",
      [options](Program& p) {
        const std::vector<LedgerLine> lines = ledger(
            options->mutant ? std::vector<Path>{mutant_path(*options->mutant)} : library_paths(),
            options->seed);
        const Section section = ledger_section(lines, p.command_line);
        text::StagedFiles files;
        add_table(files, measured_table(lines), options->output.csv);
        if (!options->json.empty()) files.add(options->json, ledger_json(lines));
        if (!options->html.empty()) {
          files.add(options->html, page({section.title, section.claim, p.command_line}, {section}));
        }
        files.publish();
        p.out << section.title << "\n  " << section.facts.at(0).sentence << '\n';
        print_ledger(p.out, lines);
        return report_failures(p.err, section);
      });
  add_seed_option(command, options->seed);
  command.text("--mutant", options->mutant,
               "Check a bug of the mutation lab in place of the library, by its name there");
  command.output("--csv", options->output.csv, "The ledger as CSV", kCsvNames);
  command.output("--json", options->json, "The ledger as JSON", kJsonNames);
  command.output("--out", options->html, "The ledger as a page (HTML)", kHtmlNames);
}

}  // namespace lookback::tools
