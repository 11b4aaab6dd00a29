// The program's frame: parses the command line, runs one command, turns errors into one line.
#pragma once

#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/command_line.h"

namespace lookback::tools {

// What a command adds itself to (tools/commands/commands.h).
struct Program {
  CLI::App& app;
  std::ostream& out;
  std::ostream& err;
  std::function<int()> action;  // set by the chosen command; returns the exit code
  std::string command_line;     // as typed, for footers: "lookback heatmap --prompt 'the cat' ..."
  std::vector<FileOption> files;  // that the command line names
};

// What a command throws for options that can never go together: the exit code is 2, not 1.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// An argument as printed command lines hold it: copied into a shell it gives the same bytes, and
// the pictures' typeface can draw it.
std::string command_word(const std::string& argument);

// The name and sentence of a command, and what it does when chosen: `act` gets the Program and
// returns the exit code. Options are added to what is returned.
CommandLine add_command(Program& program, const std::string& name, const std::string& sentence,
                        std::function<int(Program&)> act);

}  // namespace lookback::tools
