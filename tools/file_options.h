// The files that a command line names: a command must not write over what it reads, nor over what
// it has just written, nor give a picture a name that says something else.
#pragma once

#include <string>
#include <vector>

namespace lookback::tools {

struct FileOption {
  std::string option;  // "--out"
  std::string path;
  bool written;                      // or read
  std::vector<std::string> endings;  // of a written one: the formats that it can be, {".png"}
};

// ".png", in small letters; "" when the name has no ending.
std::string ending_of(const std::string& path);

// Throws std::invalid_argument when a file that is written is named twice, however it is spelled
// and linked, or when its name ends as that of another known format: `--out x.jpg` for a PNG.
// A name with no ending, or an unknown one, may be anything.
void check_files(const std::vector<FileOption>& files);

}  // namespace lookback::tools
