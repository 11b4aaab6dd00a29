// What most commands are: one Section, printed, with one figure to write.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "tools/commands/options.h"
#include "tools/program.h"
#include "tools/report/section.h"

namespace lookback::tools {

// Title, facts and tables, aligned for a terminal.
void print_section(std::ostream& out, const Section& section);
// One line for each thing that did not hold. Returns the exit code.
int report_failures(std::ostream& err, const Section& section);

// Adds a command that makes a Section from the command line as typed, prints it, and writes its
// first figure to --out and the numbers to --csv, if asked for; refused if it has none. Fails if
// the Section is not ok.
// Further options are added to what is returned.
CommandLine add_section_command(Program& program, const std::string& name,
                                const std::string& sentence,
                                std::function<Section(const std::string& command)> make);

// The same for an experiment on a text: adds --text, --prompt, --context and --seed.
void add_text_section_command(Program& program, const std::string& name,
                              const std::string& sentence,
                              Section (*make)(const TextOptions& text, uint64_t seed,
                                              const std::string& command));

}  // namespace lookback::tools
