// Printed command lines: what bash makes of a word must be the argument again.
#include "tools/text/shell.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace lookback::text {
namespace {

// What bash hands on; a letter at the end keeps trailing newlines.
std::string read_by_bash(const std::string& word) {
  const std::string script = testing::TempDir() + "/shell_word.sh";
  std::ofstream(script, std::ios::binary) << "printf '%sx' " << word;
  std::FILE* pipe = popen(("LC_ALL=C bash '" + script + "'").c_str(), "r");
  std::string bytes;
  std::array<char, 256> block{};
  for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    bytes.append(block.data(), n);
  }
  EXPECT_EQ(pclose(pipe), 0) << word;
  if (!bytes.empty()) bytes.pop_back();
  return bytes;
}

TEST(ShellWord, StaysReadableWhereItCan) {
  EXPECT_EQ(shell_word("a/b-c_1.txt"), "a/b-c_1.txt");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("the cat"), "'the cat'");
  EXPECT_EQ(shell_word("caf\xc3\xa9"), "'caf\xc3\xa9'");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\nb'");
}

TEST(ShellWord, BringsEveryByteBack) {
  for (const std::string word : {"it's", "a \"b\" $HOME `x` \\",
                                 "a\xe2\x80\xae"
                                 "b",
                                 "\xe2\x80\x8b",
                                 "\xef\xbb\xbf"
                                 "bom",
                                 "line\nline\r\ttab",
                                 "\x01"
                                 "7",
                                 "bad \xff byte", "\xe6\xbc\xa2 it's \\", "e\xcc\x81"}) {
    const std::string printed = shell_word(word);
    EXPECT_EQ(read_by_bash(printed), word) << printed;
    EXPECT_EQ(printed.find('\n'), std::string::npos);
  }
}

TEST(ShellWord, EscapesWhatCannotBeDrawn) {
  const auto ascii = [](char32_t c) { return c < 0x80; };
  const std::string printed = shell_word("x \xe6\xbc\xa2", ascii);
  EXPECT_EQ(printed, "$'x \\346\\274\\242'");
  EXPECT_EQ(read_by_bash(printed), "x \xe6\xbc\xa2");
}

}  // namespace
}  // namespace lookback::text
