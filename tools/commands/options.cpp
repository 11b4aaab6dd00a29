// From a file, a prompt or the bundled text to tokens.
#include "tools/commands/options.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "tools/text/bundled.h"
#include "tools/text/files.h"
#include "tools/text/labels.h"
#include "tools/text/utf8.h"
#include "tools/text/vocabulary.h"

namespace lookback::tools {

void add_text_options(CommandLine command, TextOptions& options, int64_t tokens) {
  command.input("--text", options.file, "A UTF-8 text file, or a pipe");
  command.text("--prompt", options.prompt, "A text, given here");
  command.exclusive("--text", "--prompt");
  command.number("--context", options.context,
                 "Tokens to look at (default: at most " + std::to_string(tokens) + ")",
                 {1, kMaxContext});
}

namespace {

// The tokens of the text; `name` receives what titles call it.
std::vector<char32_t> read_text(const TextOptions& options, std::string& name) {
  std::string_view bytes;
  std::string source;  // what errors call it
  if (options.prompt) {
    bytes = *options.prompt;
    name = "'" + text::one_line(*options.prompt, 48) + "'";
    source = "the prompt";
  } else if (!options.file.empty()) {
    if (options.bytes->empty()) *options.bytes = text::read_file(options.file);
    bytes = *options.bytes;
    name = options.file.substr(options.file.find_last_of('/') + 1);
    source = "'" + options.file + "'";
  } else {
    bytes = text::bundled_text();
    name = "shakespeare.txt";
    source = name;
  }
  try {
    std::vector<char32_t> symbols = text::decode_utf8(bytes);
    if (!symbols.empty()) return symbols;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(source + ": " + error.what());
  }
  throw std::invalid_argument(source + " is empty");
}

}  // namespace

TextSample load_text(const TextOptions& options) {
  TextSample sample;
  const std::vector<char32_t> symbols = read_text(options, sample.name);
  const auto length = static_cast<int64_t>(symbols.size());
  if (options.context.value_or(0) > length) {
    throw std::invalid_argument("the context is longer than the text; got " +
                                std::to_string(*options.context) + " and " +
                                std::to_string(length) + " tokens");
  }
  const int64_t T = options.context.value_or(std::min(length, kDefaultContext));
  if (T > kMaxContext) {
    throw std::invalid_argument("the context is longer than the longest supported; got " +
                                std::to_string(T) + " and " + std::to_string(kMaxContext));
  }
  const text::Vocabulary vocabulary(symbols);
  const std::vector<char32_t> first(symbols.begin(), symbols.begin() + T);
  sample.vocabulary = vocabulary.size();
  sample.index = from_vector(vocabulary.encode(first), {T});
  sample.labels = text::token_labels(first);
  return sample;
}

int64_t row_of(int64_t row, int64_t T) {
  if (row < -T || row >= T) {
    throw std::out_of_range("there is no row " + std::to_string(row) + ": the rows of " +
                            std::to_string(T) + " tokens are 0 to " + std::to_string(T - 1) +
                            ", or -1 (the last) to -" + std::to_string(T));
  }
  return row < 0 ? row + T : row;
}

void add_output_options(CommandLine command, OutputOptions& options) {
  command.output("--out", options.png, "The picture to write: a PNG, so not x.jpg or x.svg",
                 kPngNames);
  command.output("--csv", options.csv, "The drawn numbers, with full precision", kCsvNames);
}

void add_seed_option(CommandLine command, uint64_t& seed) {
  command.seed("--seed", seed, "Seed of all random numbers");
}

}  // namespace lookback::tools
