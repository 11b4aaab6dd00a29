#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <map>

namespace lookback::tools {
namespace {

CLI::Validator at_least(int64_t lowest) {
  const auto validate = [lowest](std::string& value) -> std::string {
    int64_t number = 0;
    const bool ok = CLI::detail::lexical_cast(value, number) && number >= lowest;
    return ok ? "" : "must be a whole number from " + std::to_string(lowest) + " up; got " + value;
  };
  return CLI::Validator(validate, "INT >= " + std::to_string(lowest));
}

}  // namespace

void CommandLine::flag(const std::string& name, bool& value, const std::string& sentence) {
  app_->add_flag(name, value, sentence);
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& sentence) {
  CLI::Option* option = app_->add_option(name, value, sentence);
  if (!value.empty()) option->capture_default_str();
}

void CommandLine::text(const std::string& name, std::optional<std::string>& value,
                       const std::string& sentence) {
  app_->add_option_function<std::string>(
      name, [&value](const std::string& given) { value = given; }, sentence);
}

void CommandLine::required_text(const std::string& name, std::string& value,
                                const std::string& sentence) {
  app_->add_option(name, value, sentence)->required();
}

void CommandLine::number(const std::string& name, int64_t& value, const std::string& sentence,
                         std::optional<int64_t> lowest, Default mention) {
  CLI::Option* option = app_->add_option(name, value, sentence);
  if (lowest) option->check(at_least(*lowest));
  if (mention == Default::shown) option->capture_default_str();
}

void CommandLine::number(const std::string& name, std::optional<int64_t>& value,
                         const std::string& sentence, std::optional<int64_t> lowest) {
  CLI::Option* option = app_->add_option_function<int64_t>(
      name, [&value](int64_t given) { value = given; }, sentence);
  if (lowest) option->check(at_least(*lowest));
}

void CommandLine::seed(const std::string& name, uint64_t& value, const std::string& sentence) {
  app_->add_option(name, value, sentence)->capture_default_str();
}

void CommandLine::choose(const std::string& name, const std::string& sentence,
                         const std::vector<std::pair<std::string, int>>& words,
                         std::function<void(int)> take) {
  app_->add_option_function<int>(name, std::move(take), sentence)
      ->transform(CLI::CheckedTransformer(std::map<std::string, int>(words.begin(), words.end())))
      ->type_name("ENUM");
}

void CommandLine::exclusive(const std::string& one, const std::string& other) {
  app_->get_option(one)->excludes(app_->get_option(other));
}

}  // namespace lookback::tools
