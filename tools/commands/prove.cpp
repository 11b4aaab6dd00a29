// lookback prove: the theorem ledger, a line per theorem, checked on the library itself.
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <utility>

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

// What the theorems are checked on: an implementation, and what to call it in the ledger.
struct Path {
  std::string name;
  Subject subject;
};

std::vector<Path> library_paths() {
  return {{"composed", library_subject(false)},
          {"fused", library_subject(true)},
          {"fused, weights asked for", library_subject(true, true)}};
}

struct Line {
  const Theorem* theorem;
  std::string path;
  uint64_t seed;
  Outcome outcome;
};

std::vector<Line> ledger(const std::vector<Path>& paths, uint64_t seed) {
  std::vector<Line> lines;
  for (const Theorem& theorem : theorems()) {
    for (const Path& path : paths) {
      lines.push_back({&theorem, theorem.multi_head ? path.name : "all", seed,
                       check_theorem(theorem, path.subject, seed)});
      if (!theorem.multi_head) break;  // says nothing of what the paths differ in
    }
  }
  return lines;
}

bool structural(const Theorem& theorem) { return theorem.equality == Equality::bits; }

std::string shapes(const Theorem& theorem) {
  const std::string sizes = to_string(theorem.sizes);
  return theorem.operands + (sizes.empty() ? "" : "; " + sizes);
}

std::string residual(const Line& line) {
  const Outcome& outcome = line.outcome;
  const std::string found = plot::format_number(outcome.residual, 2);
  const std::string limit = plot::format_number(line.theorem->tolerance, 2);
  const std::string note = outcome.note.empty() ? "" : "; " + outcome.note;
  switch (line.theorem->equality) {
    case Equality::bits:
      return outcome.differing == 0 ? "0 bits" : std::to_string(outcome.differing) + " differ";
    case Equality::rounding:
      return plot::format_number(outcome.ulp, 2) + " ulp; " + found + " of " + limit + " allowed" + note;
    case Equality::differences:
      return found + " of " + limit + " allowed" + note;
    case Equality::statistics:
      return found + " of " + limit + " standard errors allowed" + note;
  }
  return "";
}

Table ledger_table(const std::vector<Line>& lines) {
  Table table;
  table.name = "ledger";
  table.header = {"theorem",  "path",       "verdict", "residual",  "kind",
                  "compared", "checked on", "seed",    "statement", "counterexample"};
  for (const Line& line : lines) {
    const Theorem& t = *line.theorem;
    table.rows.push_back({t.id, line.path, line.outcome.ok ? "proved" : "FAILED", residual(line),
                          structural(t) ? "structural" : "numerical",
                          std::to_string(line.outcome.compared), shapes(t),
                          std::to_string(line.seed), t.statement, line.outcome.witness});
  }
  return table;
}

// Ulp are counted only where an equality is one within rounding.
std::optional<double> ulp_of(const Line& line) {
  if (line.theorem->equality != Equality::rounding) return std::nullopt;
  return line.outcome.ulp;
}

Table measured_table(const std::vector<Line>& lines) {
  Table table;
  table.name = "measured";
  table.header = {"theorem",   "path",     "seed", "proved",   "compared",
                  "differing", "residual", "ulp",  "tolerance"};
  for (const Line& line : lines) {
    const std::optional<double> ulp = ulp_of(line);
    table.rows.push_back({line.theorem->id, line.path, std::to_string(line.seed),
                          line.outcome.ok ? "yes" : "no", std::to_string(line.outcome.compared),
                          std::to_string(line.outcome.differing),
                          plot::exact(line.outcome.residual), ulp ? plot::exact(*ulp) : "",
                          plot::exact(line.theorem->tolerance)});
  }
  return table;
}

// JSON has null for it.
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string ledger_json(const std::vector<Line>& lines) {
  std::vector<JsonObject> list;
  for (const Line& line : lines) {
    const Theorem& t = *line.theorem;
    list.push_back({{"id", t.id},
                    {"path", line.path},
                    {"statement", t.statement},
                    {"shapes", shapes(t)},
                    {"seed", line.seed},
                    {"kind", std::string(structural(t) ? "structural" : "numerical")},
                    {"tolerance", t.tolerance},
                    {"compared", line.outcome.compared},
                    {"residual", line.outcome.residual},
                    {"ulp", ulp_of(line).value_or(kNone)},
                    {"differing", line.outcome.differing},
                    {"note", line.outcome.note},
                    {"proved", line.outcome.ok},
                    {"counterexample", line.outcome.witness}});
  }
  return json_list(list);
}

Section ledger_section(const std::vector<Line>& lines, const std::string& command) {
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
      "within rounding, and the tolerance is stated. Residuals in ulp, units in the last place, "
      "are counted at the largest number compared.";
  section.facts = {{std::to_string(proved) + " of " + std::to_string(lines.size()) +
                        " lines proved, " + std::to_string(compared) + " numbers compared, seed " +
                        std::to_string(lines.at(0).seed),
                    {{"lines proved", static_cast<double>(proved)},
                     {"lines", static_cast<double>(lines.size())},
                     {"numbers compared", static_cast<double>(compared)}}}};
  section.tables = {ledger_table(lines)};
  section.data = {measured_table(lines)};
  section.source = text::definition_at("tools/theorems/theorem.h", "Theorem");
  for (const std::string family :
       {"simplex_theorems", "derivative_theorems", "causality_theorems", "equality_theorems"}) {
    section.source += "; " + text::definition_at("tools/theorems/" + family + ".cpp", family);
  }
  section.command = command;
  return section;
}

// A bug of the mutation lab in place of the library.
Path mutant_path(const std::string& name) {
  std::string names;
  for (Subject& subject : mutants()) {
    if (subject.name == name) return {"mutant: " + name, std::move(subject)};
    names += (names.empty() ? "'" : ", '") + subject.name + "'";
  }
  throw std::invalid_argument("there is no mutant '" + name + "'; there are " + names);
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
        const std::vector<Line> lines = ledger(
            options->mutant ? std::vector<Path>{mutant_path(*options->mutant)} : library_paths(),
            options->seed);
        const Section section = ledger_section(lines, p.command_line);
        if (!options->output.csv.empty()) write_table(section.tables[0], options->output.csv);
        if (!options->json.empty()) text::write_file(options->json, ledger_json(lines));
        if (!options->html.empty()) {
          text::write_file(options->html,
                           page({section.title, section.claim, p.command_line, false}, {section}));
        }
        print_section(p.out, section);
        return report_failures(p.err, section);
      });
  add_seed_option(command, options->seed);
  command.text("--mutant", options->mutant,
               "Check a bug of the mutation lab in place of the library, by its name there");
  command.output("--csv", options->output.csv, "The ledger as CSV", kCsvNames);
  command.output("--json", options->json, "The ledger as JSON", {".json", ".txt"});
  command.output("--out", options->html, "The ledger as a page (HTML)", kHtmlNames);
}

}  // namespace lookback::tools
