// Glyphs by stb_truetype, or stb_easy_font where no face is found.
#include "tools/plot/font.h"

#include <stb/stb_easy_font.h>
#include <stb/stb_truetype.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "tools/text/files.h"
#include "tools/text/labels.h"
#include "tools/text/utf8.h"

namespace lookback::plot {

struct Font::Face {
  std::string bytes;  // the file; `info` points into it
  stbtt_fontinfo info{};
  double ascent = 0.0;   // of the em square
  double descent = 0.0;  // positive
};

namespace {

constexpr std::array<const char*, 6> kFolders = {
    "/usr/share/fonts/truetype/dejavu",   "/usr/share/fonts/dejavu",
    "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/TTF",
    "/usr/local/share/fonts/dejavu",      "/opt/homebrew/share/fonts"};

struct Substitute {
  char32_t missing;
  std::string_view plain;
};

// Marks that our own figures use, for faces that lack them.
constexpr std::array<Substitute, 35> kSubstitutes = {{
    {U'↵', "\\n"}, {U'␣', "_"},  {U'⇥', "\\t"}, {U'⇤', "\\r"}, {U'…', "..."}, {U'−', "-"},
    {U'–', "-"},   {U'—', "-"},  {U'×', "x"},   {U'·', "."},   {U'∞', "inf"}, {U'“', "\""},
    {U'”', "\""},  {U'‘', "'"},  {U'’', "'"},   {U'∂', "d"},   {U'‖', "||"},  {U'√', "sqrt"},
    {U'±', "+-"},  {U'≤', "<="}, {U'≥', ">="},  {U'✓', "+"},   {U'✗', "x"},   {U'⁰', "^0"},
    {U'¹', "^1"},  {U'²', "^2"}, {U'³', "^3"},  {U'⁴', "^4"},  {U'⁵', "^5"},  {U'⁶', "^6"},
    {U'⁷', "^7"},  {U'⁸', "^8"}, {U'⁹', "^9"},  {U'⁻', "^-"},  {U'≈', "~"},
}};

std::string substitute(char32_t missing) {
  for (const Substitute& entry : kSubstitutes) {
    if (entry.missing == missing) return std::string(entry.plain);
  }
  return text::code_point_name(missing);
}

double em(float scale, int font_units) { return static_cast<double>(scale) * font_units; }

// The darker of `line` and `ink` wherever `ink`, with its left upper corner at (x, y), covers it.
void overlay(Mask& line, const Mask& ink, int x, int y) {
  for (int row = std::max(0, -y); row < std::min(ink.height, line.height - y); ++row) {
    for (int column = std::max(0, -x); column < std::min(ink.width, line.width - x); ++column) {
      const int from = row * ink.width + column;
      const int to = (y + row) * line.width + x + column;
      std::uint8_t& inked = line.coverage[static_cast<std::size_t>(to)];
      inked = std::max(inked, ink.coverage[static_cast<std::size_t>(from)]);
    }
  }
}

double easy_scale(double size) { return std::max(1.0, std::round(size / 11.0)); }

}  // namespace

Font Font::builtin() { return Font(); }

Font Font::find(const std::string& file_name) {
  for (const char* folder : kFolders) {
    const std::string path = std::string(folder) + "/" + file_name;
    if (!std::filesystem::is_regular_file(path)) continue;
    auto face = std::make_shared<Face>();
    face->bytes = text::read_file(path);
    const auto* data = reinterpret_cast<const unsigned char*>(face->bytes.data());
    if (stbtt_InitFont(&face->info, data, stbtt_GetFontOffsetForIndex(data, 0)) == 0) continue;
    int ascent = 0;
    int descent = 0;
    int gap = 0;
    stbtt_GetFontVMetrics(&face->info, &ascent, &descent, &gap);
    const float scale = stbtt_ScaleForMappingEmToPixels(&face->info, 1.0f);
    face->ascent = em(scale, ascent);
    face->descent = -em(scale, descent);
    Font font;
    font.face_ = std::move(face);
    return font;
  }
  return builtin();
}

bool Font::has(char32_t code_point) const {
  if (is_builtin()) return code_point >= 32 && code_point < 127;
  const bool control = code_point < 32 || (code_point >= 127 && code_point < 160);
  return !control && stbtt_FindGlyphIndex(&face_->info, static_cast<int>(code_point)) != 0;
}

std::string Font::drawable(std::string_view utf8, bool keep_newlines) const {
  const std::vector<char32_t> code_points = text::decode_utf8_or_replace(utf8);
  std::string result;
  bool in_superscript = false;  // 10⁻³ is 10^-3, not 10^-^3
  for (std::size_t i = 0; i < code_points.size(); ++i) {
    const bool newline = code_points[i] == U'\n';
    const char32_t c = newline && !keep_newlines ? U'↵' : code_points[i];
    if ((newline && keep_newlines) || has(c)) {
      result += text::encode_utf8(c);
      in_superscript = false;
      continue;
    }
    std::string plain = substitute(c);
    if (plain.starts_with("U+") && code_points.size() > 1) plain.insert(0, 1, '[').push_back(']');
    const bool superscript = plain.front() == '^';
    result += superscript && in_superscript ? plain.substr(1) : plain;
    in_superscript = superscript;
  }
  return result;
}

double Font::width(std::string_view text, double size) const {
  if (is_builtin()) {
    std::string copy(text);
    return stb_easy_font_width(copy.data()) * easy_scale(size);
  }
  const float scale = stbtt_ScaleForMappingEmToPixels(&face_->info, static_cast<float>(size));
  double pen = 0.0;
  int previous = 0;
  for (const char32_t c : text::decode_utf8_or_replace(text)) {
    const int glyph = stbtt_FindGlyphIndex(&face_->info, static_cast<int>(c));
    int advance = 0;
    int bearing = 0;
    stbtt_GetGlyphHMetrics(&face_->info, glyph, &advance, &bearing);
    const int kern = previous ? stbtt_GetGlyphKernAdvance(&face_->info, previous, glyph) : 0;
    pen += em(scale, advance + kern);
    previous = glyph;
  }
  return pen;
}

double Font::ascent(double size) const {
  return is_builtin() ? 8.0 * easy_scale(size) : face_->ascent * size;
}

double Font::descent(double size) const {
  return is_builtin() ? 3.0 * easy_scale(size) : face_->descent * size;
}

int Font::bleed(double size) { return static_cast<int>(std::ceil(size * 0.3)); }

Mask Font::blank_line(std::string_view text, double size) const {
  Mask mask;
  mask.width = static_cast<int>(std::ceil(width(text, size))) + 2 * bleed(size);
  mask.height = static_cast<int>(std::ceil(ascent(size) + descent(size))) + 2 * bleed(size);
  mask.coverage.resize(static_cast<std::size_t>(mask.width) *
                       static_cast<std::size_t>(mask.height));
  return mask;
}

Mask Font::render(std::string_view text, double size) const {
  if (is_builtin()) return render_builtin(text, size);
  Mask line = blank_line(text, size);
  const stbtt_fontinfo* info = &face_->info;
  const float scale = stbtt_ScaleForMappingEmToPixels(info, static_cast<float>(size));
  const int baseline = bleed(size) + static_cast<int>(std::lround(ascent(size)));
  double pen = bleed(size);
  int previous = 0;
  for (const char32_t c : text::decode_utf8_or_replace(text)) {
    const int glyph = stbtt_FindGlyphIndex(info, static_cast<int>(c));
    if (previous) pen += em(scale, stbtt_GetGlyphKernAdvance(info, previous, glyph));
    const int whole = static_cast<int>(std::floor(pen));
    const auto fraction = static_cast<float>(pen - whole);
    int left = 0, top = 0, right = 0, bottom = 0;
    stbtt_GetGlyphBitmapBoxSubpixel(info, glyph, scale, scale, fraction, 0.0f, &left, &top, &right,
                                    &bottom);
    Mask ink{right - left, bottom - top, {}};
    ink.coverage.resize(static_cast<std::size_t>(ink.width) * static_cast<std::size_t>(ink.height));
    if (!ink.coverage.empty()) {
      stbtt_MakeGlyphBitmapSubpixel(info, ink.coverage.data(), ink.width, ink.height, ink.width,
                                    scale, scale, fraction, 0.0f, glyph);
    }
    overlay(line, ink, whole + left, baseline + top);
    int advance = 0;
    int bearing = 0;
    stbtt_GetGlyphHMetrics(info, glyph, &advance, &bearing);
    pen += em(scale, advance);
    previous = glyph;
  }
  return line;
}

Mask Font::render_builtin(std::string_view text, double size) const {
  struct Vertex {
    float x, y, z;
    unsigned char color[4];
  };
  Mask line = blank_line(text, size);
  const int scale = static_cast<int>(easy_scale(size));
  std::string copy(text);
  std::vector<Vertex> corners(copy.size() * 100 + 4);  // at most 24 rectangles per letter
  const int rectangles = stb_easy_font_print(0.0f, 0.0f, copy.data(), nullptr, corners.data(),
                                             static_cast<int>(corners.size() * sizeof(Vertex)));
  for (int i = 0; i < rectangles; ++i) {
    const Vertex& from = corners[static_cast<std::size_t>(i) * 4];
    const Vertex& to = corners[static_cast<std::size_t>(i) * 4 + 2];
    Mask ink{static_cast<int>(to.x - from.x) * scale, static_cast<int>(to.y - from.y) * scale, {}};
    ink.coverage.assign(static_cast<std::size_t>(ink.width) * static_cast<std::size_t>(ink.height),
                        255);
    overlay(line, ink, static_cast<int>(from.x) * scale + bleed(size),
            static_cast<int>(from.y) * scale + bleed(size));
  }
  return line;
}

}  // namespace lookback::plot
