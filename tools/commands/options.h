// Options that many commands share, and what they load.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tensor.h"
#include "tools/command_line.h"

namespace lookback::tools {

// --text FILE or --prompt "...", --context T. Neither: the bundled text.
struct TextOptions {
  std::string file;
  std::optional<std::string> prompt;
  std::optional<int64_t> context;  // unset: what the text has, at most kDefaultContext
  // The bytes of `file`, once read, for all copies of these options: a pipe gives them only once.
  std::shared_ptr<std::string> bytes = std::make_shared<std::string>();
};

inline constexpr int64_t kDefaultContext = 64;
// The longest context: the size of the position table, and so of every attention matrix.
inline constexpr int64_t kMaxContext = 1024;

// `tokens`: how many the command takes where --context is not given, for --help.
void add_text_options(CommandLine command, TextOptions& options, int64_t tokens = kDefaultContext);

// The first T code points of a text, as tokens.
struct TextSample {
  std::string name;                 // for titles: 'the cat sat on the mat', shakespeare.txt
  std::vector<std::string> labels;  // one visible label per token
  Tensor index;                     // i64 (T): which symbol of the vocabulary
  int64_t vocabulary = 0;           // distinct code points of the whole text
  int64_t size() const { return index.numel(); }
};

// Throws std::runtime_error or std::invalid_argument on a missing, empty or invalid text, and when
// the context is longer than the text or than kMaxContext.
TextSample load_text(const TextOptions& options);

// The row that --row means, for T tokens: negative ones count from the end. Throws
// std::out_of_range, saying which rows there are.
int64_t row_of(int64_t row, int64_t T);

// The endings that files may have (CommandLine::output).
inline const std::vector<std::string> kPngNames = {".png"};
inline const std::vector<std::string> kCsvNames = {".csv", ".txt"};
inline const std::vector<std::string> kJsonNames = {".json", ".txt"};
inline const std::vector<std::string> kHtmlNames = {".html", ".htm"};

// --out FILE and --csv FILE of a command that draws one picture.
struct OutputOptions {
  std::string png;
  std::string csv;
};

void add_output_options(CommandLine command, OutputOptions& options);
void add_seed_option(CommandLine command, uint64_t& seed);

}  // namespace lookback::tools
