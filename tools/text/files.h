// Whole files in and out, with errors that a user can act on:
// `cannot open 'x.txt': No such file or directory`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::text {

// The longest file that is read, 256 MiB: a text takes five times as much memory.
inline constexpr std::size_t kLongestFile = std::size_t{256} << 20U;

// The bytes of a file, a pipe or what is typed in a terminal. Throws std::runtime_error: missing,
// unreadable, a folder, another device, longer than kLongestFile, or empty.
std::string read_file(const std::string& path);

// Writes a temporary beside `path` and renames it: the file is whole or not there, never half.
// A device or pipe (/dev/stdout) is written to directly; a link's target is replaced, not the link.
// Throws std::runtime_error, `cannot write 'x.png': No such file or directory`, and leaves no
// temporary behind.
void write_file(const std::string& path, std::string_view bytes);

// Files that belong together: all of them appear, or none.
//
// Devices and pipes cannot take back what they got: they come first, so that a full one costs no
// file. Then all others are written as temporaries, and renamed when the last of them is whole; a
// rename fails only if others change the folder at that moment.
class StagedFiles {
 public:
  // Throws as write_file does where that can be known.
  void add(const std::string& path, std::string_view bytes);
  void publish();

 private:
  struct File {
    std::string path;    // as the caller named it
    std::string target;  // where its links lead
    bool is_stream;      // a device or pipe
    std::string bytes;
  };

  std::vector<File> files_;
};

// Throws as write_file would, writing nothing: lets a command refuse before its long work.
void check_writable(const std::string& path);

}  // namespace lookback::text
