// What the tests of the program share: run() in this process, with real files in a temporary
// folder.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/run.h"

namespace lookback::tools {

namespace fs = std::filesystem;

struct Result {
  int code;
  std::string out;
  std::string err;
};

inline Result run_program(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"lookback"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(static_cast<int>(argv.size()), argv.data(), out, err);
  return {code, out.str(), err.str()};
}

inline int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

class ProgramTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return temporary_.path(name); }
  std::string write(const std::string& name, const std::string& bytes) const {
    test::put_file(path(name), bytes);
    return path(name);
  }
  std::string read(const std::string& name) const { return test::get_file(path(name)); }
  // One line, that names the program, the command and what was wrong; the exit code; no new file.
  void expect_refused(const std::vector<std::string>& arguments, int code,
                      const std::string& words) const {
    const int before = temporary_.count();
    const Result result = run_program(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(lines(result.err), 1) << result.err;
    EXPECT_EQ(result.err.rfind("lookback: ", 0), 0U) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(temporary_.count(), before);
  }

  const test::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

}  // namespace lookback::tools
