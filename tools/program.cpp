#include "tools/program.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <ostream>
#include <utility>

#include "tools/commands/commands.h"
#include "tools/plot/theme.h"
#include "tools/run.h"
#include "tools/text/shell.h"

namespace lookback::tools {
namespace {

// A message as one line: whatever the user typed may be in it.
std::string one_line(std::string message) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return message;
}

void complain(Program& program, const std::string& command, const std::string& message) {
  program.err << "lookback: " << command << (command.empty() ? "" : ": ") << one_line(message)
              << '\n';
}

}  // namespace

std::string command_word(const std::string& argument) {
  return text::shell_word(argument,
                          [](char32_t c) { return plot::default_fonts()->regular.has(c); });
}

CommandLine add_command(Program& program, const std::string& name, const std::string& sentence,
                        std::function<int(Program&)> act) {
  CLI::App* command = program.app.add_subcommand(name, sentence);
  command->callback([&program, act = std::move(act)] {
    program.action = [&program, act] { return act(program); };
  });
  return CommandLine(*command);
}

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Causal self-attention you can look at: proofs, experiments, pictures.", "lookback");
  app.require_subcommand(1);
  Program program{app, out, err, nullptr, "lookback"};
  for (int i = 1; i < argc; ++i) program.command_line += " " + command_word(argv[i]);
  add_all_commands(program);

  std::string command;  // empty until it is known to be one
  for (const CLI::App* known : app.get_subcommands({})) {
    if (argc > 1 && known->get_name() == argv[1]) command = argv[1];
  }
  if (argc > 1 && command.empty() && argv[1][0] != '-') {
    complain(program, "",
             std::string("there is no command '") + argv[1] + "'; see lookback --help");
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, out, err);  // --help
    complain(program, command, error.what());
    return 2;
  }
  try {
    return program.action();
  } catch (const std::bad_alloc&) {
    complain(program, command, "out of memory");
    return 1;
  } catch (const std::exception& error) {
    complain(program, command, error.what());
    return 1;
  }
}

}  // namespace lookback::tools
