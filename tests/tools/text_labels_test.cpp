// Every token has one visible label.
#include "tools/text/labels.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace lookback {
namespace {

using text::one_line;
using text::token_label;

TEST(TokenLabel, ShowsWhatCanBeSeen) {
  EXPECT_EQ(token_label(U'a'), "a");
  EXPECT_EQ(token_label(U'é'), "é");
  EXPECT_EQ(token_label(U'漢'), "漢");
  EXPECT_EQ(token_label(U'😀'), "😀");
}

TEST(TokenLabel, MarksBlanks) {
  EXPECT_EQ(token_label(U'\n'), "↵");
  EXPECT_EQ(token_label(U' '), "␣");
  EXPECT_EQ(token_label(U'\t'), "⇥");
  EXPECT_EQ(token_label(U'\r'), "⇤");
}

class InvisibleToken : public testing::TestWithParam<char32_t> {};

TEST_P(InvisibleToken, IsNamed) {
  EXPECT_EQ(token_label(GetParam()), text::code_point_name(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Cases, InvisibleToken,
                         testing::Values(0x00, 0x01, 0x1b, 0x7f, 0x85, 0xa0, 0xad, 0x301, 0x200b,
                                         0x200d, 0x2028, 0x3000, 0xfe0f, 0xfeff, 0xe0001));

TEST(TokenLabel, NamesHaveAtLeastFourDigits) {
  EXPECT_EQ(text::code_point_name(0xe9), "U+00E9");
  EXPECT_EQ(text::code_point_name(0x1f600), "U+1F600");
}

TEST(TokenLabel, DiffersForEveryAsciiToken) {
  std::set<std::string> labels;
  for (char32_t c = 0; c < 128; ++c) labels.insert(token_label(c));
  EXPECT_EQ(labels.size(), 128u);
}

TEST(TokenLabels, OnePerToken) {
  EXPECT_EQ(text::token_labels({U'a', U' ', U'\n'}), (std::vector<std::string>{"a", "␣", "↵"}));
}

TEST(OneLine, KeepsSpacesAndMarksTheRest) {
  EXPECT_EQ(one_line("to be\nor\tnot"), "to be↵or⇥not");
  EXPECT_EQ(one_line("a\u00a0b"), "a[U+00A0]b");
  EXPECT_EQ(one_line("e\u0301"), "e\u0301");
}

TEST(OneLine, ShortensWithAnEllipsis) {
  EXPECT_EQ(one_line("abcdef", 3), "abc…");
  EXPECT_EQ(one_line("abc", 3), "abc");
  EXPECT_EQ(one_line("éééé", 2), "éé…");
}

TEST(OneLine, SurvivesInvalidBytes) { EXPECT_EQ(one_line("a\xff"), "a\ufffd"); }

}  // namespace
}  // namespace lookback
