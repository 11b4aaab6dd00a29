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

// What an earlier publish() wrote and `names` lacks. Only plain names: the list may be anybody's.
std::vector<std::string> stale_files(const std::string& folder,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> stale;
  if (!fs::is_regular_file(folder + "/" + kList)) return stale;
  std::istringstream list(read_file(folder + "/" + kList));
  for (std::string name; std::getline(list, name);) {
    const bool plain = !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
    const bool kept = std::binary_search(names.begin(), names.end(), name);
    if (plain && !kept && fs::is_regular_file(folder + "/" + name)) stale.push_back(name);
  }
  return stale;
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
  for (const std::string& name : names) check_writable(folder_ + "/" + name);
  std::string list;
  for (const std::string& name : names) list += name + "\n";
  const std::vector<std::string> stale = stale_files(folder_, names);
  write_file(path_ + "/" + kList, list);

  std::error_code error;
  fs::remove(folder_ + "/" + index, error);
  if (error) throw failure("replace", folder_ + "/" + index, error);
  for (const std::string& name : stale) fs::remove(folder_ + "/" + name, error);
  std::erase(names, index);
  names.emplace_back(kList);
  names.push_back(index);
  for (const std::string& name : names) {
    fs::rename(path_ + "/" + name, folder_ + "/" + name, error);
    if (error) throw failure("write", folder_ + "/" + name, error);
  }
}

void StagedFolder::check(const std::string& folder, const std::string& index) {
  if (fs::exists(folder)) {
    check_is_folder(folder);
    check_writable(folder + "/" + index);
    return;
  }
  std::string name = folder;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  check_writable(name);
}

}  // namespace lookback::text
