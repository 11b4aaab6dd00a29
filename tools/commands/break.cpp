// lookback break: the mutation lab. Every classic bug against every theorem.
#include <algorithm>
#include <memory>

#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/fixed_threads.h"
#include "tools/plot/table.h"
#include "tools/text/sources.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// kills[m][t]: what theorem t found wrong with mutant m.
struct KillMatrix {
  std::vector<Subject> subjects;  // the first is the control: every step correct
  std::vector<std::vector<Outcome>> outcomes;
};

KillMatrix run_mutants(uint64_t seed) {
  const FixedThreads two(2);  // one mutant splits a sum by threads
  KillMatrix matrix;
  matrix.subjects = mutants();
  matrix.subjects.insert(matrix.subjects.begin(),
                         assemble("control", "every step is correct", correct_steps()));
  for (const Subject& subject : matrix.subjects) {
    std::vector<Outcome> row;
    for (const Theorem& theorem : theorems()) row.push_back(check_theorem(theorem, subject, seed));
    matrix.outcomes.push_back(std::move(row));
  }
  return matrix;
}

// Whether theorem t catches mutant m: it must fail for it, and hold for the control.
bool kills(const KillMatrix& matrix, size_t m, size_t t) {
  return !matrix.outcomes[m][t].ok && matrix.outcomes[0][t].ok;
}

// A witness under the pointer.
HoverMatrix hover_cells(const KillMatrix& matrix) {
  HoverMatrix hover;
  hover.row_title = "mutant";
  hover.column_title = "theorem";
  for (const Theorem& theorem : theorems()) hover.column_labels.push_back(theorem.id);
  for (size_t m = 0; m < matrix.subjects.size(); ++m) {
    hover.row_labels.push_back(matrix.subjects[m].name);
    for (const Outcome& outcome : matrix.outcomes[m]) {
      hover.texts.push_back(outcome.ok ? "holds" : outcome.witness);
    }
  }
  return hover;
}

Figure draw(const KillMatrix& matrix, uint64_t seed, const std::string& command) {
  plot::Table table;
  table.matrix = true;
  table.row_title = "mutant";
  table.column_title = "theorem";
  for (const Theorem& theorem : theorems()) table.column_labels.push_back(theorem.id);
  Figure figure;
  figure.numbers.header = {"mutant", "what is wrong", "theorem", "killed", "witness"};
  for (size_t m = 0; m < matrix.subjects.size(); ++m) {
    const Subject& subject = matrix.subjects[m];
    table.row_labels.push_back(subject.name);
    std::vector<plot::TableCell> cells;
    for (size_t t = 0; t < theorems().size(); ++t) {
      const Outcome& outcome = matrix.outcomes[m][t];
      cells.push_back(
          {outcome.ok ? "" : "×", outcome.ok ? plot::CellTone::good : plot::CellTone::bad});
      figure.numbers.rows.push_back({subject.name, subject.sentence, theorems()[t].id,
                                     outcome.ok ? "no" : "yes", outcome.witness});
    }
    table.rows.push_back(std::move(cells));
  }
  table.legend = {{plot::CellTone::good, "the theorem holds"},
                  {plot::CellTone::bad, "the theorem fails"}};
  figure.name = "break";
  const auto held = std::count_if(matrix.outcomes[0].begin(), matrix.outcomes[0].end(),
                                  [](const Outcome& outcome) { return outcome.ok; });
  figure.caption =
      "Rows are bugs, columns theorems; a red cell is a theorem that fails. The control row, with "
      "every step correct, passes " +
      std::to_string(held) + " of " + std::to_string(theorems().size()) + ".";
  figure.hover = {hover_cells(matrix)};
  figure.image = plot::figure(
      plot::draw_table(table),
      {"Which theorem catches which bug",
       "each mutant differs from correct attention in one step; seed " + std::to_string(seed),
       "made by: " + command});
  return figure;
}

// The theorems that catch mutant m, in the order of the ledger.
std::vector<size_t> killers(const KillMatrix& matrix, size_t m) {
  std::vector<size_t> list;
  for (size_t t = 0; t < theorems().size(); ++t) {
    if (kills(matrix, m, t)) list.push_back(t);
  }
  return list;
}

Table witness_table(const KillMatrix& matrix) {
  Table table;
  table.name = "witnesses";
  table.title = "Each bug, and the first theorem that catches it";
  table.header = {"mutant", "what is wrong", "caught by", "first", "witness"};
  for (size_t m = 1; m < matrix.subjects.size(); ++m) {
    const std::vector<size_t> by = killers(matrix, m);
    table.rows.push_back({matrix.subjects[m].name, matrix.subjects[m].sentence,
                          std::to_string(by.size()), by.empty() ? "NOBODY" : theorems()[by[0]].id,
                          by.empty() ? "" : matrix.outcomes[m][by[0]].witness});
  }
  return table;
}

std::vector<std::string> survivors(const KillMatrix& matrix) {
  std::vector<std::string> failures;
  for (size_t m = 1; m < matrix.subjects.size(); ++m) {
    if (!killers(matrix, m).empty()) continue;
    failures.push_back("mutant '" + matrix.subjects[m].name + "' survives");
  }
  return failures;
}

std::vector<std::string> control_failures(const KillMatrix& matrix) {
  std::vector<std::string> failures;
  for (size_t t = 0; t < theorems().size(); ++t) {
    const Outcome& outcome = matrix.outcomes[0][t];
    if (outcome.ok) continue;
    failures.push_back("theorem '" + theorems()[t].id +
                       "' fails for the control, so that the library or the theorem is wrong (see "
                       "lookback prove): " +
                       outcome.witness);
  }
  return failures;
}

Fact summary(size_t bugs, size_t survived, size_t control_fails) {
  const std::string control =
      control_fails == 0 ? "passes every theorem"
                         : "FAILS " + std::to_string(control_fails) + ", which count as no kill";
  return {std::to_string(bugs - survived) + " of " + std::to_string(bugs) +
              " mutants killed; the control " + control,
          {{"mutants", static_cast<double>(bugs)},
           {"mutants killed", static_cast<double>(bugs - survived)},
           {"theorems that fail for the control", static_cast<double>(control_fails)}}};
}

// A theorem that catches no bug may be saying nothing.
std::vector<Fact> questioned(const KillMatrix& matrix) {
  std::vector<Fact> facts;
  for (size_t t = 0; t < theorems().size(); ++t) {
    size_t m = 1;
    while (m < matrix.subjects.size() && !kills(matrix, m, t)) ++m;
    if (m < matrix.subjects.size() || !matrix.outcomes[0][t].ok) continue;
    facts.push_back("questioned: '" + theorems()[t].id + "' kills no mutant");
  }
  return facts;
}

}  // namespace

Section break_section(uint64_t seed, const std::string& command) {
  const KillMatrix matrix = run_mutants(seed);
  Section section;
  section.id = "break";
  section.title = "The mutation lab";
  section.claim =
      "A proof that cannot fail proves nothing. Here attention is broken on purpose, one classic "
      "bug at a time, and every theorem of the ledger is checked against every bug. A witness is "
      "the smallest counterexample: with this seed's numbers, no one of its sizes can be made "
      "smaller without the theorem holding.";
  section.figures.push_back(draw(matrix, seed, command));
  section.tables.push_back(witness_table(matrix));
  section.failures = survivors(matrix);
  const std::vector<std::string> control = control_failures(matrix);
  section.facts.push_back(
      summary(matrix.subjects.size() - 1, section.failures.size(), control.size()));
  section.failures.insert(section.failures.end(), control.begin(), control.end());
  for (Fact& fact : questioned(matrix)) section.facts.push_back(std::move(fact));
  section.source = text::definition_at("tools/theorems/mutants.cpp", "mutants");
  section.command = command;
  return section;
}

void add_break(Program& program) {
  const auto seed = std::make_shared<uint64_t>(1);
  CommandLine command = add_section_command(
      program, "break", "Break attention in every classic way; exit 1 if a bug survives",
      [seed](const std::string& line) { return break_section(*seed, line); });
  add_seed_option(command, *seed);
}

}  // namespace lookback::tools
