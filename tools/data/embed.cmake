# Turns a file's bytes into a C++ source, so that the program carries its text with it.
#
#   include(tools/data/embed.cmake)
#   lookback_embed_text(tools/data/shakespeare.txt ${CMAKE_CURRENT_BINARY_DIR}/bundled_text.cpp)
#   target_sources(lookback_tools PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/bundled_text.cpp)
#
# The source is written when CMake configures, and again whenever the text changes.
function(lookback_embed_text input output)
  get_filename_component(input "${input}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${input}")
  get_filename_component(name "${input}" NAME)
  file(READ "${input}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REPEAT "0x..," 16 line)
  string(REGEX REPLACE "(${line})" "    \\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT "${output}" CONTENT [=[
// Made by tools/data/embed.cmake from @name@. Edit that file, not this one.
#include "tools/text/bundled.h"

#include <string_view>

namespace lookback::text {
namespace {

constexpr char kText[] = {
@bytes@};

}  // namespace

std::string_view bundled_text() { return {kText, sizeof(kText)}; }

}  // namespace lookback::text
]=] @ONLY)
endfunction()
