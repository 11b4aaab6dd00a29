// POSIX files: std::fstream does not say why it failed, and a picture needs an atomic rename.
#include "tools/text/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "tools/text/hold_signals.h"

namespace lookback::text {
namespace {

namespace fs = std::filesystem;

std::runtime_error failure(const char* verb, const std::string& path, int error) {
  return std::runtime_error(std::string("cannot ") + verb + " '" + path +
                            "': " + std::generic_category().message(error));
}

// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Closes now; false (and errno) when the last bytes could not be stored.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// What is at `path` now, and where a rename must go.
struct Target {
  std::string path;
  bool is_stream = false;  // a device or pipe: renaming over it would destroy it
};

Target resolve_target(const std::string& path) {
  if (path.empty()) throw failure("write", path, ENOENT);
  Target target{path, false};
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    const fs::path real = fs::canonical(path, ignored);
    if (!ignored) target.path = real.string();
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw failure("write", path, EISDIR);
    if (::access(path.c_str(), W_OK) != 0) throw failure("write", path, errno);
    target.is_stream = !S_ISREG(status.st_mode);
  } else if (errno != ENOENT || path.back() == '/') {
    throw failure("write", path, path.back() == '/' ? EISDIR : errno);
  }
  return target;
}

// Creates an empty file of a new name in the folder of `target`; `name` receives its path.
int create_beside(const fs::path& target, std::string& name) {
  const std::string stem =
      (target.parent_path() / (".lookback-" + std::to_string(::getpid()) + "-")).string();
  for (int attempt = 0;; ++attempt) {
    name = stem + std::to_string(attempt) + ".tmp";
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
}

// Files under other names beside their places; removed unless they are renamed.
class Temporaries {
 public:
  Temporaries() = default;
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;
  ~Temporaries() {
    for (const std::string& name : names_) {
      if (!name.empty()) ::unlink(name.c_str());
    }
  }
  // False (and errno) when it failed; likewise below.
  bool write(const std::string& target, std::string_view bytes) {
    std::string name;
    Descriptor file(create_beside(target, name));
    if (file.get() < 0) return false;
    names_.push_back(name);
    return write_all(file.get(), bytes) && file.close();
  }
  bool rename(size_t i, const std::string& target) {
    if (::rename(names_[i].c_str(), target.c_str()) != 0) return false;
    names_[i].clear();
    return true;
  }

 private:
  std::vector<std::string> names_;
};

std::runtime_error too_long(const std::string& path) {
  return std::runtime_error("'" + path + "' is longer than the " +
                            std::to_string(kLongestFile >> 20U) + " MiB that are read at most");
}

// Devices such as /dev/full never end; a terminal does, by Ctrl-D.
void refuse_endless(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw failure("open", path, errno);
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(fd) == 0)) {
    throw std::runtime_error("cannot read '" + path + "': it is a device, not a file or a pipe");
  }
  if (S_ISREG(status.st_mode) && status.st_size > static_cast<off_t>(kLongestFile)) {
    throw too_long(path);
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw failure("open", path, errno);
  refuse_endless(file.get(), path);
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw failure("open", path, errno);  // a folder opens, but cannot be read
    if (count == 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > kLongestFile) throw too_long(path);
  }
  if (bytes.empty()) throw std::runtime_error("'" + path + "' is empty");
  return bytes;
}

void StagedFiles::add(const std::string& path, std::string_view bytes) {
  const Target target = resolve_target(path);
  files_.push_back({path, target.path, target.is_stream, std::string(bytes)});
}

void StagedFiles::publish() {
  for (const File& file : files_) {
    if (!file.is_stream) continue;
    Descriptor stream(::open(file.target.c_str(), O_WRONLY | O_CLOEXEC));
    if (stream.get() < 0 || !write_all(stream.get(), file.bytes) || !stream.close()) {
      throw failure("write", file.path, errno);
    }
  }
  const HoldSignals hold;  // Ctrl-C must not leave temporaries behind; a pipe may wait for ever
  Temporaries temporaries;
  for (const File& file : files_) {
    if (!file.is_stream && !temporaries.write(file.target, file.bytes)) {
      throw failure("write", file.path, errno);
    }
  }
  size_t next = 0;
  for (const File& file : files_) {
    if (!file.is_stream && !temporaries.rename(next++, file.target)) {
      throw failure("write", file.path, errno);
    }
  }
  files_.clear();
}

void write_file(const std::string& path, std::string_view bytes) {
  StagedFiles files;
  files.add(path, bytes);
  files.publish();
}

void check_writable(const std::string& path) {
  const Target target = resolve_target(path);
  if (target.is_stream) return;
  std::string temporary;
  const Descriptor file(create_beside(target.path, temporary));
  if (file.get() < 0) throw failure("write", path, errno);
  ::unlink(temporary.c_str());
}

}  // namespace lookback::text
