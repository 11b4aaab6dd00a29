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
#include "tools/text/labels.h"
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

std::string quoted(const std::string& value) { return "'" + text::one_line(value) + "'"; }

std::string see_help(const std::string& command) {
  return "; see lookback " + command + (command.empty() ? "" : " ") + "--help";
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// The arguments as CLI11 takes them rightly: it would take the one after `--out=` for its value.
// Throws UsageError for an option without its value, and for a flag with one.
std::vector<std::string> checked(const CLI::App& command,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    result.push_back(argument);
    if (argument == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<int64_t>(i) + 1, arguments.end());
      break;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const bool dashed = !argument.empty() && argument[0] == '-';
    const CLI::Option* option = dashed ? command.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    const bool with_value = equals != std::string::npos;
    if (!takes_value(*option)) {
      if (!with_value) continue;
      throw UsageError(name + " takes no value; got " + quoted(argument.substr(equals + 1)));
    }
    if (with_value) {
      if (equals + 1 < argument.size()) continue;
      result.back().pop_back();
      result.emplace_back();
      continue;
    }
    // A word that is itself an option is no value, unless it is given as --text=--seed.
    const bool last = i + 1 == arguments.size();
    if (last || command.get_option_no_throw(arguments[i + 1]) != nullptr) {
      throw UsageError(name + " needs a value, " + option->get_type_name() + "; got " +
                       (last ? "none" : "the option " + arguments[i + 1]));
    }
    result.push_back(arguments[++i]);
  }
  return result;
}

// An option with what it was given: --text 'y'.
std::string as_given(const CLI::Option& option) {
  return option.get_name() + (takes_value(option) ? " " + quoted(option.results()[0]) : "");
}

// What does not go together, or is missing; empty: nothing.
std::string conflict(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const CLI::results_t& values = option->results();
    if (values.empty()) continue;
    if (takes_value(*option) && values.size() > 1) {
      std::string all;
      for (size_t i = 0; i < values.size(); ++i) {
        all += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + quoted(values[i]);
      }
      return option->get_name() + " takes one value; got " + all;
    }
    for (const CLI::Option* other : option->get_excludes()) {
      if (other->results().empty()) continue;
      return as_given(*option) + " and " + as_given(*other) + " cannot go together";
    }
    for (const CLI::Option* other : option->get_needs()) {
      if (!other->results().empty()) continue;
      return as_given(*option) + " means nothing without " + other->get_name();
    }
  }
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || !option->results().empty()) continue;
    return option->get_name() + " " + option->get_type_name() + " is required" +
           see_help(command.get_name());
  }
  return "";
}

// CLI11's error in our words; what nobody knows is named before what is missing.
std::string refusal(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return error.what();  // ours
  const std::string name = &command == &app ? "" : command.get_name();
  const std::vector<std::string> unknown = app.remaining(true);
  if (!unknown.empty()) {
    const std::string option = unknown[0].substr(0, unknown[0].find('='));
    const bool dashed = option.size() > 1 && option[0] == '-' && option != "--";
    const bool known = dashed && command.get_option_no_throw(option) != nullptr;
    return (dashed && !known ? "there is no option '" : "there is no use for '") + unknown[0] +
           "'" + see_help(name);
  }
  const std::string found = conflict(command);
  if (!found.empty()) return found;
  return name.empty() ? "a command is required; see lookback --help" : error.what();
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
  const CLI::App& chosen = command.empty() ? program.app : *program.app.get_subcommand(command);
  try {
    std::vector<std::string> rest = checked(chosen, arguments);
    std::reverse(rest.begin(), rest.end());  // as CLI11 wants it
    program.app.parse(std::move(rest));
    check_files(program.files);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help
      code = program.app.exit(error, program.out, program.err);
    } else {
      complain(program, command, refusal(program.app, chosen, error));
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
