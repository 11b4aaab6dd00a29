#include "tools/commands/options.h"

#include <algorithm>
#include <stdexcept>

#include "tools/text/bundled.h"
#include "tools/text/files.h"
#include "tools/text/labels.h"
#include "tools/text/utf8.h"
#include "tools/text/vocabulary.h"

namespace lookback::tools {

void add_text_options(CommandLine command, TextOptions& options) {
  command.text("--text", options.file, "A UTF-8 text file");
  command.text("--prompt", options.prompt, "A text, given here");
  command.exclusive("--text", "--prompt");
  command.number("--context", options.context, "Tokens to look at (default: at most 64)", 1);
}

TextSample load_text(const TextOptions& options) {
  TextSample sample;
  std::string bytes;
  if (options.prompt) {
    bytes = *options.prompt;
    sample.name = "'" + text::one_line(bytes, 48) + "'";
    if (bytes.empty()) throw std::invalid_argument("the prompt is empty");
  } else if (!options.file.empty()) {
    bytes = text::read_file(options.file);
    sample.name = options.file.substr(options.file.find_last_of('/') + 1);
  } else {
    bytes = text::bundled_text();
    sample.name = "shakespeare.txt";
  }
  const std::vector<char32_t> symbols = text::decode_utf8(bytes);
  const auto length = static_cast<int64_t>(symbols.size());
  if (length == 0) throw std::invalid_argument("the text is empty");
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

void add_output_options(CommandLine command, OutputOptions& options, bool png_required) {
  const std::string sentence = "The picture to write (PNG)";
  if (png_required) {
    command.required_text("--out", options.png, sentence);
  } else {
    command.text("--out", options.png, sentence);
  }
  command.text("--csv", options.csv, "The drawn numbers, with full precision");
}

void add_seed_option(CommandLine command, uint64_t& seed) {
  command.seed("--seed", seed, "Seed of all random numbers");
}

}  // namespace lookback::tools
