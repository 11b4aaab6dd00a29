// The options of one command. The parser is CLI11; its header, which costs seconds in every file
// that reads it, is read by command_line.cpp and program.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/file_options.h"

namespace CLI {
class App;
}

namespace lookback::tools {

// Whether --help shows what a number is when it is not given.
enum class Default { shown, hidden };

// The numbers that an option takes. An upper limit keeps a slip of the finger from running for
// ever.
struct Range {
  int64_t lowest;
  int64_t highest;
};

// Each option writes to its `value`, which must outlive the parsing and stays as it is when the
// option is not given. An empty value, `--out ""`, is refused. Cheap to copy.
class CommandLine {
 public:
  CommandLine(CLI::App& app, std::vector<FileOption>& files) : app_(&app), files_(&files) {}

  void flag(const std::string& name, bool& value, const std::string& sentence);
  void text(const std::string& name, std::string& value, const std::string& sentence);
  void text(const std::string& name, std::optional<std::string>& value,
            const std::string& sentence);

  // A file that the command reads, or writes. No two options may name the same file, and the name
  // of a written one may not end as another format's does.
  void input(const std::string& name, std::string& path, const std::string& sentence);
  void output(const std::string& name, std::string& path, const std::string& sentence,
              const std::vector<std::string>& endings);
  // The command cannot do without an option that was added before.
  void require(const std::string& name);

  void number(const std::string& name, int64_t& value, const std::string& sentence, Range range,
              Default mention = Default::shown);
  void number(const std::string& name, std::optional<int64_t>& value, const std::string& sentence,
              Range range);
  void seed(const std::string& name, uint64_t& value, const std::string& sentence);

  // One of a few words.
  template <class Enum>
  void choice(const std::string& name, Enum& value, const std::string& sentence,
              const std::vector<std::pair<std::string, Enum>>& words) {
    std::vector<std::string> all;
    for (const auto& [word, meaning] : words) all.push_back(word);
    choose(name, sentence, all, [&value, words](size_t at) { value = words[at].second; });
  }

  // At most one of two options that were added before.
  void exclusive(const std::string& one, const std::string& other);
  // The first means nothing without the second.
  void needs(const std::string& one, const std::string& other);

 private:
  void add(const std::string& name, const std::string& sentence, const std::string& type,
           const std::function<void(const std::string&)>& take, const std::string& shown = "");
  void add_file(const std::string& name, std::string& path, const std::string& sentence,
                FileOption file);
  void choose(const std::string& name, const std::string& sentence,
              const std::vector<std::string>& words, const std::function<void(size_t)>& take);

  CLI::App* app_;
  std::vector<FileOption>* files_;  // the program's: those that were given
};

}  // namespace lookback::tools
