#include "tools/commands/options.h"

#include <algorithm>
#include <stdexcept>

#include "tools/text/bundled.h"
#include "tools/text/files.h"
#include "tools/text/labels.h"
#include "tools/text/utf8.h"
#include "tools/text/vocabulary.h"

namespace lookback::tools {

CLI::Validator at_least(int64_t low) {
  const auto validate = [low](std::string& value) -> std::string {
    int64_t number = 0;
    const bool ok = CLI::detail::lexical_cast(value, number) && number >= low;
    return ok ? "" : "must be a whole number from " + std::to_string(low) + " up; got " + value;
  };
  return CLI::Validator(validate, "INT >= " + std::to_string(low));
}

void add_text_options(CLI::App& command, TextOptions& options) {
  auto* file = command.add_option("--text", options.file, "A UTF-8 text file");
  auto* prompt = command.add_option("--prompt", options.prompt, "A text, given here");
  file->excludes(prompt);
  prompt->each([&options](const std::string&) { options.has_prompt = true; });
  command.add_option("--context", options.context, "Tokens to look at (default: at most 64)")
      ->check(at_least(1));
}

TextSample load_text(const TextOptions& options) {
  TextSample sample;
  std::string bytes;
  if (options.has_prompt) {
    bytes = options.prompt;
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
  if (options.context > length) {
    throw std::invalid_argument("the context is longer than the text; got " +
                                std::to_string(options.context) + " and " + std::to_string(length) +
                                " tokens");
  }
  const int64_t T = options.context > 0 ? options.context : std::min(length, kDefaultContext);
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

void add_output_options(CLI::App& command, OutputOptions& options, bool png_required) {
  command.add_option("--out", options.png, "The picture to write (PNG)")->required(png_required);
  command.add_option("--csv", options.csv, "The drawn numbers, with full precision");
}

void add_seed_option(CLI::App& command, uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of all random numbers")->capture_default_str();
}

}  // namespace lookback::tools
