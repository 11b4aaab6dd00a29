// Colours and colour maps: how a number becomes a pixel's red, green and blue. Knows no canvas.
#pragma once

#include <cstdint>

namespace lookback::plot {

struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

// From 0xRRGGBB.
constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16 & 0xffu), static_cast<std::uint8_t>(hex >> 8 & 0xffu),
          static_cast<std::uint8_t>(hex & 0xffu)};
}

// The palette that all figures share.
namespace palette {
inline constexpr Rgb paper = rgb(0xffffff);
inline constexpr Rgb ink = rgb(0x1f2933);
inline constexpr Rgb muted = rgb(0x5f6b7a);   // axis titles, captions, footers
inline constexpr Rgb frame = rgb(0x9aa5b1);   // axes and ticks
inline constexpr Rgb grid = rgb(0xe6e9ed);    // grid lines
inline constexpr Rgb masked = rgb(0xe4e0d8);  // an exact zero: a warm grey that no colour map holds
inline constexpr Rgb nan = rgb(0xe6007e);
inline constexpr Rgb infinite = rgb(0xff8c00);
inline constexpr Rgb good = rgb(0xd5ead8);
inline constexpr Rgb good_ink = rgb(0x2b6a3b);
inline constexpr Rgb bad = rgb(0xcf4a3c);
inline constexpr Rgb bad_ink = rgb(0xffffff);
}  // namespace palette

// blues and viridis for amounts, red_blue for signed numbers (0 in its middle; red is negative).
enum class ColorMap { blues, viridis, red_blue };

// The map's colour at t in [0, 1]; t outside is clamped. 256 levels, as Matplotlib has them.
Rgb color_at(ColorMap map, double t);

// Colour number i for a line or a bar; colours repeat after eight (Okabe and Ito, 2008).
Rgb series_color(int i);

// The colour that lies `amount` (0 ... 1) of the way from `from` to `to`.
Rgb mix(Rgb from, Rgb to, double amount);

}  // namespace lookback::plot
