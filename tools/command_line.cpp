// What CLI11 is asked to do for each kind of option.
#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

namespace lookback::tools {
namespace {

// A whole number, all of `text`. CLI11 would take what is too large for the largest there is.
template <class Int>
Int whole_number(const std::string& name, const std::string& text, Int lowest, Int highest) {
  Int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < lowest || number > highest) {
    throw CLI::ValidationError(name, "'" + text + "' is not a whole number from " +
                                         std::to_string(lowest) + " to " + std::to_string(highest));
  }
  return number;
}

using Take = std::function<void(const std::string&)>;

void refuse_empty(const std::string& name, const std::string& given) {
  if (given.empty()) throw CLI::ValidationError(name, "the value is empty");
}

template <class Text>  // std::string, or an optional one
Take take_text(const std::string& name, Text& value) {
  return [&value, name](const std::string& given) {
    refuse_empty(name, given);
    value = given;
  };
}

template <class Int>  // int64_t, or an optional one
Take take_number(const std::string& name, Int& value, Range range) {
  return [&value, name, range](const std::string& given) {
    value = whole_number(name, given, range.lowest, range.highest);
  };
}

std::string type_of(const Range& range) {
  return "INT from " + std::to_string(range.lowest) + " to " + std::to_string(range.highest);
}

}  // namespace

void CommandLine::add(const std::string& name, const std::string& sentence, const std::string& type,
                      const std::function<void(const std::string&)>& take,
                      const std::string& shown) {
  app_->add_option_function<std::string>(name, take, sentence)->type_name(type)->default_str(shown);
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& sentence) {
  app_->add_flag(name, value, sentence);
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& sentence) {
  add(name, sentence, "TEXT", take_text(name, value), value);
}

void CommandLine::text(const std::string& name, std::optional<std::string>& value,
                       const std::string& sentence) {
  add(name, sentence, "TEXT", take_text(name, value));
}

void CommandLine::add_file(const std::string& name, std::string& path, const std::string& sentence,
                           FileOption file) {
  const auto take = [&path, files = files_, file = std::move(file)](const std::string& given) {
    refuse_empty(file.option, given);
    path = given;
    files->push_back(file);
    files->back().path = given;
  };
  add(name, sentence, "FILE", take);
}

void CommandLine::input(const std::string& name, std::string& path, const std::string& sentence) {
  add_file(name, path, sentence, {name, "", false, {}});
}

void CommandLine::output(const std::string& name, std::string& path, const std::string& sentence,
                         const std::vector<std::string>& endings) {
  add_file(name, path, sentence, {name, "", true, endings});
}

void CommandLine::require(const std::string& name) { app_->get_option(name)->required(); }

void CommandLine::number(const std::string& name, int64_t& value, const std::string& sentence,
                         Range range, Default mention) {
  add(name, sentence, type_of(range), take_number(name, value, range),
      mention == Default::shown ? std::to_string(value) : "");
}

void CommandLine::number(const std::string& name, std::optional<int64_t>& value,
                         const std::string& sentence, Range range) {
  add(name, sentence, type_of(range), take_number(name, value, range));
}

void CommandLine::seed(const std::string& name, uint64_t& value, const std::string& sentence) {
  const auto take = [&value, name](const std::string& given) {
    value = whole_number<uint64_t>(name, given, 0, std::numeric_limits<uint64_t>::max());
  };
  add(name, sentence, "UINT", take, std::to_string(value));
}

void CommandLine::choose(const std::string& name, const std::string& sentence,
                         const std::vector<std::string>& words,
                         const std::function<void(size_t)>& take) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " or ") + word;
  add(name, sentence, all, [=](const std::string& given) {
    const auto at = std::find(words.begin(), words.end(), given);
    if (at == words.end()) throw CLI::ValidationError(name, "'" + given + "' is not " + all);
    take(static_cast<size_t>(at - words.begin()));
  });
}

void CommandLine::exclusive(const std::string& one, const std::string& other) {
  app_->get_option(one)->excludes(app_->get_option(other));
}

void CommandLine::needs(const std::string& one, const std::string& other) {
  app_->get_option(one)->needs(app_->get_option(other));
}

}  // namespace lookback::tools
