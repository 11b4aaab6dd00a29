// Parsing and acting are apart, so that usage errors are known before any work.
#include "tools/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <ios>
#include <new>
#include <ostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tools/commands/commands.h"
#include "tools/plot/theme.h"
#include "tools/run.h"
#include "tools/text/files.h"
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

// Splits `--out=` into `--out` and an empty value: CLI11 would take the next argument for it.
std::vector<std::string> with_empty_values(const CLI::App& command,
                                           const std::vector<std::string>& arguments) {
  std::vector<std::string> split;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const size_t equals = argument.find('=');
    const CLI::Option* option =
        argument[0] == '-' ? command.get_option_no_throw(argument.substr(0, equals)) : nullptr;
    const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
    split.push_back(argument);
    if (!takes_value) continue;
    if (equals == std::string::npos && i + 1 < arguments.size()) split.push_back(arguments[++i]);
    if (equals + 1 == argument.size()) {
      split.back().pop_back();
      split.emplace_back();
    }
  }
  return split;
}

// What CLI11 says, but what nobody knows is named before what is missing.
std::string refusal(const CLI::App& app, const std::string& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const bool named = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                     dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!named || unknown.empty()) return error.what();
  const std::string help = "lookback " + command + (command.empty() ? "" : " ") + "--help";
  const bool option = unknown[0].size() > 1 && unknown[0][0] == '-';
  return (option ? "there is no option '" : "there is no use for '") + unknown[0] + "'; see " +
         help;
}

// False: nothing is left to do, and `code` is the exit code.
bool parse(Program& program, const std::string& command, const std::vector<std::string>& arguments,
           int& code) {
  code = 2;
  if (command.empty() && !arguments.empty() && arguments[0].rfind('-', 0) != 0) {
    complain(program, "", "there is no command '" + arguments[0] + "'; see lookback --help");
    return false;
  }
  if (arguments.empty()) {
    complain(program, "", "a command is required; see lookback --help");
    return false;
  }
  try {
    const CLI::App* options = command.empty() ? &program.app : program.app.get_subcommand(command);
    std::vector<std::string> rest = with_empty_values(*options, arguments);
    std::reverse(rest.begin(), rest.end());  // as CLI11 wants it
    program.app.parse(std::move(rest));
    check_files(program.files);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      code = program.app.exit(error, program.out, program.err);
    } else {
      complain(program, command, refusal(program.app, command, error));
    }
  } catch (const std::invalid_argument& error) {
    complain(program, command, error.what());
  }
  return false;
}

// Runs the command; what it cannot write is refused before its long work.
int act(Program& program, const std::string& command) {
  try {
    for (const FileOption& file : program.files) {
      if (file.written) text::check_writable(file.path);
    }
    return program.action();
  } catch (const UsageError& error) {
    complain(program, command, error.what());
    return 2;
  } catch (const std::ios_base::failure&) {
    throw;  // run() says why
  } catch (const std::bad_alloc&) {
    complain(program, command, "out of memory");
  } catch (const std::exception& error) {
    complain(program, command, error.what());
  }
  return 1;
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
  return CommandLine(*command, program.files);
}

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Causal self-attention you can look at: proofs, experiments, pictures.", "lookback");
  app.require_subcommand(1);
  Program program{app, out, err, nullptr, "lookback", {}};
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  for (const std::string& argument : arguments)
    program.command_line += " " + command_word(argument);
  add_all_commands(program);
  std::string command;  // empty until it is known to be one
  for (const CLI::App* known : app.get_subcommands({})) {
    if (!arguments.empty() && known->get_name() == arguments[0]) command = arguments[0];
  }
  int code = 2;
  const std::ios_base::iostate before = out.exceptions();
  int error = 0;
  try {
    errno = 0;
    out.exceptions(std::ios_base::badbit);  // thrown at once: errno still has the reason
    if (parse(program, command, arguments, code)) code = act(program, command);
    out.flush();
    out.exceptions(before);
    return code;
  } catch (const std::ios_base::failure&) {
    error = errno;
  }
  out.exceptions(before);
  const std::string reason = error == 0 ? "" : ": " + std::generic_category().message(error);
  complain(program, command, "cannot write to standard output" + reason);
  return 1;
}

}  // namespace lookback::tools
