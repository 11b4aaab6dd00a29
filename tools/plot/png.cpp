// PNG by stb_image_write.
#include "tools/plot/png.h"

#include <stb/stb_image_write.h>

#include <cstddef>
#include <stdexcept>

namespace lookback::plot {
namespace {

// Flat figures gain nothing from PNG's row filters; trying them all doubles the time. Less effort
// than the default's 8 takes a quarter of the time off and adds 0.3 % to the bytes.
bool choose_for_figures() {
  stbi_write_force_png_filter = 0;
  stbi_write_png_compression_level = 5;
  return true;
}

}  // namespace

std::string encode_png(const Canvas& canvas) {
  if (canvas.width() == 0 || canvas.height() == 0) {
    throw std::invalid_argument("[png] a picture needs at least one pixel");
  }
  [[maybe_unused]] static const bool chosen = choose_for_figures();  // once, whatever the threads
  std::string bytes;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                          static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &bytes, canvas.width(), canvas.height(), 3,
                             canvas.bytes().data(), canvas.width() * 3) == 0) {
    throw std::runtime_error("[png] the picture could not be encoded");
  }
  return bytes;
}

}  // namespace lookback::plot
