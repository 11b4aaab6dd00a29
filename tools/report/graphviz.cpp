#include "tools/report/graphviz.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace lookback::tools {
namespace {

// A file of its own in the folder for temporary files, removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / "lookback-XXXXXX") {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw std::runtime_error("cannot write '" + path_ + "'");
    std::FILE* file = fdopen(descriptor, "wb");
    const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (std::fclose(file) != 0 || !whole) {
      std::remove(path_.c_str());
      throw std::runtime_error("cannot write '" + path_ + "'");
    }
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::optional<std::string> graphviz(const std::string& dot, const std::string& format) {
  const TemporaryFile source(dot);
  const std::string command = "dot -T" + format + (format == "png" ? " -Gdpi=192 '" : " '") +
                              source.path() + "' 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string bytes;
  std::array<char, 65536> block{};
  for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    bytes.append(block.data(), n);
  }
  if (pclose(pipe) != 0 || bytes.empty()) return std::nullopt;
  return bytes;
}

}  // namespace lookback::tools
