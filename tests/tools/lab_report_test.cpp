// The lab's report: whole or not there, never two runs in one folder, and progress that stays
// readable when something fails. Parts are made up, so that they can fail.
#include "tools/commands/lab_report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <stdexcept>

#include "tests/tools/files_support.h"
#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

using test::get_file;
using test::put_file;
using test::TemporaryFolder;

// A part with one table, "<name>-table.csv", that says `words`.
Part part(const std::string& name, const std::string& words, bool holds = true) {
  return {name, [=] {
            Section section;
            section.id = name;
            Table table;
            table.rows = {{words}};
            section.tables = {table};
            if (!holds) section.failures = {"what should hold does not"};
            return section;
          }};
}

// What a write_report said on out and err, and its exit code or exception as the program shows it.
struct Attempt {
  std::ostringstream out;
  std::ostringstream err;
  int code = -1;
  std::string error;

  Attempt(const std::string& folder, const std::vector<Part>& parts) {
    try {
      code = write_report(out, err, "lookback lab", parts, folder);
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
  }
};

TEST(LabReport, WritesThePageAndTheNumbers) {
  const TemporaryFolder parent;
  const Attempt attempt(parent.path("lab"), {part("a", "1"), part("b", "2")});
  EXPECT_EQ(attempt.code, 0);
  EXPECT_NE(get_file(parent.path("lab/index.html")).find("</html>"), std::string::npos);
  EXPECT_EQ(get_file(parent.path("lab/a-table.csv")), "1\n");
  EXPECT_EQ(get_file(parent.path("lab/b-table.csv")), "2\n");
  EXPECT_EQ(attempt.err.str().find("[1/2] a ..."), 0U);
}

// One edit of the sources must not cost the pictures of all the rest.
TEST(LabReport, APartThatCannotBeMadeSaysSoInItsPlace) {
  const TemporaryFolder folder;
  const Part bad = {"b", []() -> Section { throw std::runtime_error("no luck"); }};
  const Attempt attempt(folder.path(), {part("a", "1"), bad, part("c", "3")});
  EXPECT_EQ(attempt.code, 1);
  EXPECT_NE(attempt.err.str().find("FAILED\nlookback: b: no luck\n[3/3] c"), std::string::npos)
      << attempt.err.str();
  EXPECT_NE(get_file(folder.path("index.html")).find("no luck"), std::string::npos);
  EXPECT_EQ(get_file(folder.path("a-table.csv")), "1\n");
  EXPECT_EQ(get_file(folder.path("c-table.csv")), "3\n");
}

TEST(LabReport, WhatDoesNotHoldIsSaidOnALineOfItsOwn) {
  const TemporaryFolder folder;
  const Attempt attempt(folder.path(), {part("a", "1"), part("b", "2", false)});
  EXPECT_EQ(attempt.code, 1);
  EXPECT_NE(attempt.err.str().find("\nlookback: b: what should hold does not\n"), std::string::npos)
      << attempt.err.str();
  EXPECT_EQ(get_file(folder.path("b-table.csv")), "2\n");
}

TEST(LabReport, RefusesAFolderThatCannotBeWrittenBeforeTheWork) {
  const TemporaryFolder folder;
  put_file(folder.path("file"), "text");
  for (const std::string name : {"file", "missing/lab"}) {
    const Attempt attempt(folder.path(name), {part("a", "1")});
    EXPECT_NE(attempt.error.find(name), std::string::npos) << attempt.error;
    EXPECT_EQ(attempt.err.str(), "");
  }
  EXPECT_EQ(folder.count(), 1);
}

TEST(LabReport, LeavesNoFileOfAnotherRun) {
  const TemporaryFolder folder;
  put_file(folder.path("notes.txt"), "mine");
  const Attempt first(folder.path(), {part("a", "1"), part("b", "2")});
  const Attempt second(folder.path(), {part("a", "3")});
  EXPECT_FALSE(std::filesystem::exists(folder.path("b-table.csv")));
  EXPECT_EQ(get_file(folder.path("a-table.csv")), "3\n");
  EXPECT_EQ(get_file(folder.path("notes.txt")), "mine");
}

TEST(LabReportDeathTest, AnInterruptKeepsTheOldReport) {
  const TemporaryFolder folder;
  const Attempt first(folder.path(), {part("a", "1"), part("b", "2")});
  const int files = folder.count();
  const Part interrupted = {"b", []() -> Section {
                              std::raise(SIGINT);
                              return {};
                            }};
  EXPECT_EXIT(Attempt(folder.path(), {part("a", "3"), interrupted}),
              testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(get_file(folder.path("a-table.csv")), "1\n");
  EXPECT_EQ(folder.count(), files);
}

}  // namespace
}  // namespace lookback::tools
