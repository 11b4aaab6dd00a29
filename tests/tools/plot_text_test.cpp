// Text in pictures: measured before it is drawn, wrapped but never cut, drawable whatever it holds.
// Faces may be missing on a machine: every property is tested with the built-in letters too.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/plot/font.h"
#include "tools/plot/theme.h"
#include "tools/text/labels.h"

namespace lookback {
namespace {

using namespace plot;

bool has_ink(const Mask& mask) {
  return std::any_of(mask.coverage.begin(), mask.coverage.end(), [](auto c) { return c > 0; });
}

class AnyFonts : public testing::TestWithParam<bool> {
 protected:
  const Fonts* fonts() const { return fonts_.get(); }
  Theme theme() const { return Theme(2, fonts_); }

 private:
  std::shared_ptr<const Fonts> fonts_ =
      GetParam() ? std::make_shared<const Fonts>() : default_fonts();
};

INSTANTIATE_TEST_SUITE_P(Faces, AnyFonts, testing::Bool(),
                         [](const auto& test) { return test.param ? "BuiltIn" : "Installed"; });

TEST_P(AnyFonts, DrawInk) {
  EXPECT_TRUE(has_ink(fonts()->regular.render("query", 24)));
  EXPECT_FALSE(has_ink(fonts()->regular.render(" ", 24)));
  EXPECT_FALSE(has_ink(fonts()->regular.render("", 24)));
}

TEST_P(AnyFonts, RenderInsideTheMeasuredBox) {
  const Font& font = fonts()->regular;
  for (const std::string text : {"query", "W", "jumping fjord", "|_|", "0.25"}) {
    const Mask mask = font.render(text, 24);
    const int bleed = Font::bleed(24);
    EXPECT_NEAR(mask.width, font.width(text, 24) + 2 * bleed, 1) << text;
    for (int y = 0; y < mask.height; ++y) {  // nothing touches the mask's own edge: nothing is cut
      EXPECT_EQ(mask.coverage[static_cast<std::size_t>(y * mask.width)], 0);
      EXPECT_EQ(mask.coverage[static_cast<std::size_t>(y * mask.width + mask.width - 1)], 0);
    }
  }
}

TEST_P(AnyFonts, WidthGrowsWithTextAndSize) {
  const Font& font = fonts()->mono;
  EXPECT_LT(font.width("ab", 24), font.width("abc", 24));
  EXPECT_LT(font.width("abc", 24), font.width("abc", 48));
}

TEST_P(AnyFonts, MakeEverythingDrawable) {
  const Font& font = fonts()->mono;
  for (const std::string text : {"é", "漢", "😀", "\xff", "a\nb", "\t", "10⁻³", "↵␣⇥⇤"}) {
    const std::string drawable = font.drawable(text);
    EXPECT_FALSE(drawable.empty());
    EXPECT_EQ(font.drawable(drawable), drawable) << text;  // nothing left to replace
  }
}

TEST(Font, NamesWhatNoFaceHas) {
  EXPECT_EQ(Font::builtin().drawable("é"), "U+00E9");
  EXPECT_EQ(Font::builtin().drawable("café"), "caf[U+00E9]");
  EXPECT_EQ(Font::builtin().drawable("10⁻¹²"), "10^-12");
  EXPECT_EQ(Font::builtin().drawable("a\nb"), "a\\nb");
  EXPECT_EQ(Font::builtin().drawable("a\nb", true), "a\nb");
}

TEST(Font, MissingFacesFallBack) { EXPECT_TRUE(Font::find("no-such-face.ttf").is_builtin()); }

TEST(Font, InstalledFaceKnowsAccentsButNotCjk) {
  const Font& font = default_fonts()->mono;
  if (font.is_builtin()) return;
  EXPECT_TRUE(font.has(U'é'));
  EXPECT_TRUE(font.has(U'␣'));
  EXPECT_FALSE(font.has(U'漢'));
  EXPECT_EQ(font.drawable("漢"), "U+6F22");
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

TEST_P(AnyFonts, WrapFitsAndLosesNothing) {
  const std::string text =
      "A long title about causal self-attention that must be wrapped, with "
      "averyverylongwordthatcannotfitintoonelinewhateveronedoesaboutit inside";
  for (const int width : {60, 150, 400, 2000}) {
    const auto lines = theme().wrap(text, Theme::title_style(), width);
    for (const auto& line : lines) {
      EXPECT_LE(theme().text_width(line, Theme::title_style()), width) << line;
    }
    const auto joined = std::accumulate(lines.begin(), lines.end(), std::string());
    EXPECT_EQ(without_blanks(joined), without_blanks(text)) << width;
  }
}

TEST_P(AnyFonts, WrapKeepsNewlines) {
  EXPECT_EQ(theme().wrap("a\nb c", Theme::note_style(), 1000),
            (std::vector<std::string>{"a", "b c"}));
  EXPECT_TRUE(theme().wrap("", Theme::note_style(), 1000).empty());
}

TEST_P(AnyFonts, WrapEndsEvenWhereNothingFits) {
  EXPECT_EQ(theme().wrap("abc", Theme::note_style(), 1), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_P(AnyFonts, TextStaysInItsLine) {
  const TextStyle style = Theme::axis_style();
  Canvas canvas(400, 100);
  theme().text(canvas, 200, 30, "jumping query", style, Align::center);
  const int height = theme().line_height(style);
  const int width = theme().text_width("jumping query", style);
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      const bool inside =
          y >= 29 && y <= 30 + height && x >= 198 - width / 2 && x <= 202 + width / 2;
      ASSERT_TRUE(inside || canvas.pixel(x, y) == palette::paper) << x << " " << y;
    }
  }
}

TEST_P(AnyFonts, TextUpStaysInItsColumn) {
  const TextStyle style = Theme::axis_style();
  Canvas canvas(100, 400);
  theme().text_up(canvas, 30, 200, "jumping query", style, Align::center);
  const int height = theme().line_height(style);
  const int width = theme().text_width("jumping query", style);
  bool ink = false;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      const bool inside =
          x >= 29 && x <= 30 + height && y >= 198 - width / 2 && y <= 202 + width / 2;
      if (canvas.pixel(x, y) == palette::paper) continue;
      ink = true;
      ASSERT_TRUE(inside) << x << " " << y;
    }
  }
  EXPECT_TRUE(ink);
}

TEST(Theme, ScalesLengths) {
  EXPECT_EQ(Theme(1).px(12.5), 13);
  EXPECT_EQ(Theme(2).px(12.5), 25);
  EXPECT_EQ(test::message_of([] { Theme(0); }), "[plot] scale must be 1 ... 8; got 0");
}

// One mark for a token, in a table and in a picture.
TEST(FontTest, DrawsTheMarksOfBlanksAsTablesPrintThem) {
  if (default_fonts()->regular.is_builtin()) GTEST_SKIP() << "no DejaVu";
  for (const Font* font :
       {&default_fonts()->regular, &default_fonts()->bold, &default_fonts()->mono}) {
    for (char32_t c = 0; c < 128; ++c) {
      EXPECT_EQ(font->drawable(text::token_label(c)), text::token_label(c));
    }
  }
}

}  // namespace
}  // namespace lookback
