// Renames one by one, the index last; a list in the folder names what is ours.
#include "tools/text/staged_folder.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "tools/text/files.h"

namespace lookback::text {
namespace {

namespace fs = std::filesystem;

// Names what publish() wrote, a line each, so that the next one knows what it may remove.
constexpr const char* kList = ".lookback-files";

std::runtime_error failure(const std::string& what, const std::string& path,
                           const std::error_code& error) {
  return std::runtime_error("cannot " + what + " '" + path + "': " + error.message());
}

void check_is_folder(const std::string& folder) {
  if (!fs::is_directory(folder)) throw std::runtime_error("'" + folder + "' is not a folder");
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What an earlier publish() wrote and is still there. Only plain names: the list may be anybody's.
std::vector<std::string> names_written(const std::string& folder) {
  std::vector<std::string> names;
  if (!fs::is_regular_file(folder + "/" + kList)) return names;
  std::istringstream list(read_file(folder + "/" + kList));
  for (std::string name; std::getline(list, name);) {
    const bool plain = !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
    if (plain && fs::is_regular_file(fs::path(folder) / name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// `name` may take its place in `folder`, where an earlier publish() wrote the names `ours`.
void check_replaceable(const std::string& folder, const std::string& name,
                       const std::vector<std::string>& ours) {
  const std::string path = folder + "/" + name;
  check_writable(path);
  if (!fs::exists(fs::symlink_status(path)) || has(ours, name)) return;
  throw std::runtime_error("cannot replace '" + path +
                           "': no earlier run wrote it; move it away, or name another folder");
}

}  // namespace

StagedFolder::StagedFolder(const std::string& folder) : folder_(folder) {
  std::error_code error;
  created_ = fs::create_directory(folder, error);
  if (error) throw failure("create the folder", folder, error);
  check_is_folder(folder);
  path_ = folder + "/.lookback-" + std::to_string(::getpid()) + ".tmp";
  fs::remove_all(path_, error);  // of a process that was killed, and had the same number
  if (!fs::create_directory(path_, error)) {
    if (created_) fs::remove(folder);
    throw failure("write into the folder", folder, error);
  }
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (created_) fs::remove(folder_, ignored);  // only if it is empty
}

void StagedFolder::publish(const std::string& index) {
  if (HoldSignals::pending()) return;
  std::vector<std::string> names = names_in(path_);
  const std::vector<std::string> ours = names_written(folder_);
  for (const std::string& name : names) check_replaceable(folder_, name, ours);
  std::string list;
  for (const std::string& name : names) list += name + "\n";
  write_file(path_ + "/" + kList, list);

  std::error_code error;
  fs::remove(folder_ + "/" + index, error);
  if (error) throw failure("replace", folder_ + "/" + index, error);
  for (const std::string& name : ours) {
    if (!has(names, name)) fs::remove(folder_ + "/" + name, error);
  }
  std::erase(names, index);
  names.insert(names.begin(), kList);  // first: a run that is killed here left nothing unnamed
  names.push_back(index);
  for (const std::string& name : names) {
    fs::rename(path_ + "/" + name, folder_ + "/" + name, error);
    if (error) throw failure("write", folder_ + "/" + name, error);
  }
}

void StagedFolder::check(const std::string& folder, const std::string& index) {
  if (fs::exists(folder)) {
    check_is_folder(folder);
    check_replaceable(folder, index, names_written(folder));
    return;
  }
  std::string name = folder;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  check_writable(name);
}

bool StagedFolder::wrote(const std::string& folder, const std::string& path) {
  const std::vector<std::string> ours = names_written(folder);
  return std::any_of(ours.begin(), ours.end(), [&](const std::string& name) {
    std::error_code unknown;  // `path` may not exist
    return fs::equivalent(fs::path(folder) / name, path, unknown);
  });
}

}  // namespace lookback::text
