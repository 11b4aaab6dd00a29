// What the tests of texts and plots share: a folder that vanishes, and what an error says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lookback::test {

// An empty folder of its own for each test; removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("lookback-") + info->test_suite_name() + "-" + info->name() +
                       "-" + std::to_string(::getpid());
    for (char& c : name) c = c == '/' ? '-' : c;
    folder_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(folder_);  // of a run that was killed, and had the same number
    std::filesystem::create_directories(folder_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? folder_.string() : (folder_ / name).string();
  }
  // How many files are in it, whatever their names: a forgotten temporary would count.
  int count() const {
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(folder_),
                                          std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

inline void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string get_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The text of the exception that f throws; "" when it throws none.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace lookback::test
