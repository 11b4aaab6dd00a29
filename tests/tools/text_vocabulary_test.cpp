// The vocabulary: sorted, distinct, a bijection with 0 ... size - 1.
#include "tools/text/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/text/bundled.h"
#include "tools/text/utf8.h"

namespace lookback {
namespace {

using test::message_of;
using text::decode_utf8;
using text::Vocabulary;

TEST(Vocabulary, IsSortedAndDistinct) {
  const Vocabulary vocabulary(decode_utf8("banana é\n"));
  EXPECT_EQ(vocabulary.symbols(), (std::vector<char32_t>{U'\n', U' ', U'a', U'b', U'n', U'é'}));
  EXPECT_EQ(vocabulary.size(), 6);
}

TEST(Vocabulary, DoesNotDependOnOrder) {
  EXPECT_EQ(Vocabulary(decode_utf8("abc")).symbols(), Vocabulary(decode_utf8("cbaabc")).symbols());
}

TEST(Vocabulary, EncodesByPlace) {
  const auto text = decode_utf8("the cat sat on the mat");
  const Vocabulary vocabulary(text);
  std::vector<char32_t> decoded;
  for (const std::int64_t index : vocabulary.encode(text)) {
    decoded.push_back(vocabulary.symbols()[static_cast<std::size_t>(index)]);
  }
  EXPECT_EQ(decoded, text);
  EXPECT_EQ(vocabulary.encode(U' '), 0);
}

TEST(Vocabulary, IndicesAreBelowItsSize) {
  const auto text = decode_utf8(text::bundled_text());
  const Vocabulary vocabulary(text);
  const auto indices = vocabulary.encode(text);
  EXPECT_EQ(*std::min_element(indices.begin(), indices.end()), 0);
  EXPECT_EQ(*std::max_element(indices.begin(), indices.end()), vocabulary.size() - 1);
}

TEST(Vocabulary, NamesWhatItLacks) {
  const Vocabulary vocabulary(decode_utf8("abc"));
  EXPECT_THROW(vocabulary.encode(U'é'), std::invalid_argument);
  EXPECT_EQ(message_of([&] { vocabulary.encode(decode_utf8("abé")); }),
            "character 'é' (U+00E9) is not in the vocabulary");
  EXPECT_EQ(message_of([&] { vocabulary.encode(U'\n'); }),
            "character '↵' (U+000A) is not in the vocabulary");
}

TEST(Vocabulary, EmptyOneHoldsNothing) { EXPECT_EQ(Vocabulary({}).size(), 0); }

TEST(BundledText, IsSomeKilobytesOfShakespeare) {
  const auto text = text::bundled_text();
  EXPECT_TRUE(text.starts_with("First Citizen:\n"));
  EXPECT_TRUE(text.ends_with("\n"));
  EXPECT_GT(text.size(), 8000u);
  EXPECT_LT(text.size(), 16000u);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= ' ' && c < 127); }));
}

TEST(BundledText, IsTheFileInTheRepository) {
  const std::string file = test::get_file("tools/data/shakespeare.txt");
  if (!file.empty()) {  // tests may run elsewhere
    EXPECT_EQ(file, text::bundled_text());
  }
}

}  // namespace
}  // namespace lookback
