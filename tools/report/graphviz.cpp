// Runs `dot` on a temporary file and reads what it draws from a pipe.
#include "tools/report/graphviz.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "tools/text/files.h"
#include "tools/text/shell.h"

namespace lookback::tools {
namespace {

// An empty file of its own in the folder for temporary files, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::error_code unknown;
    path_ = std::filesystem::temp_directory_path(unknown) / "lookback-XXXXXX";
    if (unknown) {
      throw std::runtime_error("no folder for temporary files, TMPDIR: " + unknown.message());
    }
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) {
      const int error = errno;
      throw std::runtime_error("cannot write '" + path_ +
                               "': " + std::generic_category().message(error));
    }
    ::close(descriptor);
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
  const TemporaryFile source;
  text::write_file(source.path(), dot);
  const std::string command = "dot -T" + format + (format == "png" ? " -Gdpi=192 " : " ") +
                              text::shell_word(source.path()) + " 2>/dev/null";
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
