# Turns source files into one C++ source, so that the program can say on which line something is.
# Run at build time, whenever one of them changes:
#   cmake -DROOT=<project> -DOUTPUT=sources.cpp "-DFILES=<paths, relative to ROOT>" -P <this file>
set(entries "")
foreach(file IN LISTS FILES)
  file(READ "${ROOT}/${file}" text)
  string(APPEND entries "    {\"${file}\", R\"lookback(${text})lookback\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by tools/data/embed_sources.cmake.
#include \"tools/text/sources.h\"

#include <map>

namespace lookback::text {

const std::map<std::string_view, std::string_view>& sources() {
  static const std::map<std::string_view, std::string_view> all = {
${entries}  };
  return all;
}

}  // namespace lookback::text
")
