// UTF-8 in and out: one token per code point, invalid bytes named by their offset.
#include "tools/text/utf8.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"

namespace lookback {
namespace {

using test::message_of;
using text::decode_utf8;
using text::encode_utf8;
using CodePoints = std::vector<char32_t>;

TEST(Utf8, DecodesOneTokenPerCodePoint) {
  EXPECT_EQ(decode_utf8("aé漢😀"), (CodePoints{U'a', U'é', U'漢', U'😀'}));
}

TEST(Utf8, EmptyTextHasNoTokens) { EXPECT_TRUE(decode_utf8("").empty()); }

TEST(Utf8, KeepsNulCrLfAndTab) {
  EXPECT_EQ(decode_utf8(std::string("a\0\r\n\tb", 6)),
            (CodePoints{U'a', 0, U'\r', U'\n', U'\t', U'b'}));
}

TEST(Utf8, KeepsCombiningMarksAndJoinersApart) {
  EXPECT_EQ(decode_utf8("e\u0301👩\u200d🚀").size(), 5u);
}

TEST(Utf8, SkipsAByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(decode_utf8("\xef\xbb\xbfhi"), (CodePoints{U'h', U'i'}));
  EXPECT_EQ(decode_utf8("h\xef\xbb\xbfi"), (CodePoints{U'h', 0xfeff, U'i'}));
}

struct Invalid {
  std::string name;
  std::string bytes;
  int offset;
};

class InvalidUtf8 : public testing::TestWithParam<Invalid> {};

TEST_P(InvalidUtf8, NamesTheOffset) {
  EXPECT_THROW(decode_utf8(GetParam().bytes), std::invalid_argument);
  EXPECT_EQ(message_of([] { decode_utf8(GetParam().bytes); }),
            "invalid UTF-8 at byte " + std::to_string(GetParam().offset));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, InvalidUtf8,
    testing::Values(Invalid{"Latin1", "caf\xe9 au lait", 3}, Invalid{"AtStart", "\xff", 0},
                    Invalid{"Continuation", "abc\x80", 3}, Invalid{"CutOff", "ab\xe6\xbc", 2},
                    Invalid{"Overlong", "x\xc0\xaf", 1}, Invalid{"Surrogate", "xy\xed\xa0\x80", 2},
                    Invalid{"TooLarge", "\xf4\x90\x80\x80", 0},
                    Invalid{"Utf16", std::string("\xff\xfeh\0", 4), 0},
                    Invalid{"AfterWideOnes", "é漢😀\xfe", 9},
                    Invalid{"AfterByteOrderMark", "\xef\xbb\xbf\xff", 3},
                    Invalid{"AtSeventeen", "seventeen letters\xc3(", 17}),
    [](const auto& test) { return test.param.name; });

TEST(Utf8, ReplacesInvalidBytesForLabels) {
  EXPECT_EQ(text::decode_utf8_or_replace("a\xff\x62"), (CodePoints{U'a', 0xfffd, U'b'}));
}

TEST(Utf8, EncodesWhatItDecodes) {
  const std::string original("aé漢😀\0\r\n\u00a0", 16);
  EXPECT_EQ(encode_utf8(decode_utf8(original)), original);
  EXPECT_EQ(encode_utf8(U'é'), "é");
}

TEST(Utf8, RoundTripsEveryLength) {
  for (const char32_t c : {0x0u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu}) {
    EXPECT_EQ(decode_utf8(encode_utf8(c)), CodePoints{c}) << static_cast<unsigned>(c);
  }
}

}  // namespace
}  // namespace lookback
