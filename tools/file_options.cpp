// Files are compared by device and inode where they exist, else by their resolved paths.
#include "tools/file_options.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>

namespace lookback::tools {
namespace {

namespace fs = std::filesystem;

// Endings that promise a format to whoever opens the file.
const std::vector<std::string> kKnown = {
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp",  ".tif", ".tiff", ".svg", ".pdf",
    ".eps", ".ps",  ".csv",  ".tsv", ".xlsx", ".json", ".html", ".htm", ".dot",  ".gv",  ".txt"};

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

void check_ending(const FileOption& file) {
  const std::string ending = ending_of(file.path);
  if (!has(kKnown, ending) || has(file.endings, ending)) return;
  std::string right;
  for (const std::string& known : file.endings) {
    right += (right.empty() ? "" : known == file.endings.back() ? " or " : ", ") + known;
  }
  throw std::invalid_argument(file.option + ": '" + file.path + "' ends in " + ending +
                              "; this option writes " + right);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  const bool both = ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0;
  if (both) {
    // A terminal or /dev/null takes everything.
    if (S_ISCHR(one.st_mode)) return false;
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  }
  std::error_code unknown;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, unknown), unknown);
  if (unknown) return false;
  const fs::path second = fs::weakly_canonical(fs::absolute(b, unknown), unknown);
  return !unknown && first == second;
}

}  // namespace

std::string ending_of(const std::string& path) {
  std::string ending = fs::path(path).extension();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

void check_files(const std::vector<FileOption>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!files[i].written && !files[j].written) continue;
      if (!same_file(files[i].path, files[j].path)) continue;
      throw std::invalid_argument(files[j].option + " '" + files[j].path + "' and " +
                                  files[i].option + " '" + files[i].path + "' are the same file");
    }
  }
  for (const FileOption& file : files) {
    if (file.written) check_ending(file);
  }
}

}  // namespace lookback::tools
