// Whole files in and out, with errors that a user can act on:
// `cannot open 'x.txt': No such file or directory`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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

// Throws as write_file would, writing nothing: lets a command refuse before its long work.
void check_writable(const std::string& path);

}  // namespace lookback::text
