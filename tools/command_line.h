// The options of one command. The parser is CLI11; its header, which costs seconds in every file
// that reads it, is read by command_line.cpp and program.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace lookback::tools {

// Whether --help shows what a number is when it is not given.
enum class Default { shown, hidden };

// Each option writes to its `value`, which must outlive the parsing and stays as it is when the
// option is not given. Cheap to copy.
class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(&app) {}

  void flag(const std::string& name, bool& value, const std::string& sentence);
  void text(const std::string& name, std::string& value, const std::string& sentence);
  void text(const std::string& name, std::optional<std::string>& value,
            const std::string& sentence);
  void required_text(const std::string& name, std::string& value, const std::string& sentence);

  // A whole number, from `lowest` up.
  void number(const std::string& name, int64_t& value, const std::string& sentence,
              std::optional<int64_t> lowest = {}, Default mention = Default::shown);
  void number(const std::string& name, std::optional<int64_t>& value, const std::string& sentence,
              std::optional<int64_t> lowest = {});
  void seed(const std::string& name, uint64_t& value, const std::string& sentence);

  // One of a few words.
  template <class Enum>
  void choice(const std::string& name, Enum& value, const std::string& sentence,
              const std::vector<std::pair<std::string, Enum>>& words) {
    std::vector<std::pair<std::string, int>> numbers;
    for (const auto& [word, meaning] : words) numbers.emplace_back(word, static_cast<int>(meaning));
    choose(name, sentence, numbers, [&value](int chosen) { value = static_cast<Enum>(chosen); });
  }

  // At most one of two options that were added before.
  void exclusive(const std::string& one, const std::string& other);

 private:
  void choose(const std::string& name, const std::string& sentence,
              const std::vector<std::pair<std::string, int>>& words, std::function<void(int)> take);

  CLI::App* app_;
};

}  // namespace lookback::tools
