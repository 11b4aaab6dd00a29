// PNG and CSV: what is written is what is read back, to the pixel and to the bit.
#include <gtest/gtest.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#include <stb/stb_image.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/plot/csv.h"
#include "tools/plot/heatmap.h"
#include "tools/plot/png.h"

namespace lookback {
namespace {

using namespace plot;
using test::message_of;

// The pixels of a PNG, as a canvas holds them.
std::vector<std::uint8_t> decode(const std::string& png, int* width, int* height) {
  int channels = 0;
  const auto* data = reinterpret_cast<const stbi_uc*>(png.data());
  stbi_uc* pixels =
      stbi_load_from_memory(data, static_cast<int>(png.size()), width, height, &channels, 3);
  if (pixels == nullptr) return {};
  std::vector<std::uint8_t> bytes(pixels, pixels + *width * *height * 3);
  stbi_image_free(pixels);
  return bytes;
}

Panel small_figure() {
  const Heatmap heatmap{.rows = 2, .columns = 2, .values = {1, 0, 0.5, 0.5}};
  return figure(draw_heatmap(heatmap), {"Title", "subtitle", "footer"});
}

TEST(Png, RoundTripsEveryPixel) {
  const Canvas canvas = small_figure().canvas;
  int width = 0;
  int height = 0;
  EXPECT_EQ(decode(encode_png(canvas), &width, &height), canvas.bytes());
  EXPECT_EQ(width, canvas.width());
  EXPECT_EQ(height, canvas.height());
}

TEST(Png, SameFigureSameBytes) {
  EXPECT_EQ(encode_png(small_figure().canvas), encode_png(small_figure().canvas));
}

TEST(Png, OnePixelWorksNoneIsRefused) {
  int width = 0;
  int height = 0;
  EXPECT_EQ(decode(encode_png(Canvas(1, 1, palette::nan)), &width, &height),
            (std::vector<std::uint8_t>{palette::nan.r, palette::nan.g, palette::nan.b}));
  EXPECT_EQ(message_of([] { encode_png(Canvas()); }), "[png] a picture needs at least one pixel");
}

template <typename Number>
void expect_reads_back(Number value) {
  const std::string text = exact(value);
  const auto read = sizeof(Number) == sizeof(float)
                        ? static_cast<Number>(std::strtof(text.c_str(), nullptr))
                        : static_cast<Number>(std::strtod(text.c_str(), nullptr));
  EXPECT_EQ(std::memcmp(&read, &value, sizeof(Number)), 0) << text;
}

template <typename Number>
class ExactNumber : public testing::Test {};
using NumberTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactNumber, NumberTypes);

TYPED_TEST(ExactNumber, ReadsBackAsTheSameBits) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam value :
       {TypeParam(0), -TypeParam(0), TypeParam(1) / 3, TypeParam(0.1), Limits::min(), Limits::max(),
        Limits::denorm_min(), Limits::epsilon(), -TypeParam(1e-30), Limits::infinity(),
        -Limits::infinity()}) {
    expect_reads_back(value);
  }
}

TYPED_TEST(ExactNumber, ReadsBackForManyBitPatterns) {
  std::uint64_t state = 1;
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    TypeParam value = 0;
    const std::uint64_t bits = sizeof(TypeParam) == 4 ? state >> 32 : state;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) expect_reads_back(value);
  }
}

TYPED_TEST(ExactNumber, IsShort) {
  EXPECT_EQ(exact(TypeParam(0.1)), "0.1");
  EXPECT_EQ(exact(TypeParam(1)), "1");
  EXPECT_EQ(exact(std::numeric_limits<TypeParam>::quiet_NaN()), "nan");
  EXPECT_EQ(exact(-std::numeric_limits<TypeParam>::quiet_NaN()), "nan");
}

TEST(Csv, QuotesWhatMustBe) {
  EXPECT_EQ(csv_text({"name", "note"}, {{"a b", "line\nbreak"}, {"", " x"}}),
            "name,note\na b,\"line\nbreak\"\n,\" x\"\n");
  EXPECT_EQ(csv_text({}, {{",", "\""}, {"1", "0.1"}}), "\",\",\"\"\"\"\n1,0.1\n");
}

}  // namespace
}  // namespace lookback
