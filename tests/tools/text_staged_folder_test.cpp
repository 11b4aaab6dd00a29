// Folders that are replaced as a whole, and signals that wait meanwhile. Signals are tested in
// processes of their own: they end there.
#include "tools/text/staged_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/tools/files_support.h"
#include "tools/text/files.h"

namespace lookback {
namespace {

using test::get_file;
using test::message_of;
using test::put_file;
using test::TemporaryFolder;
using text::HoldSignals;
using text::StagedFolder;

// One run of a report: an index and other files, all with the same words.
void publish(const std::string& folder, const std::string& words,
             const std::vector<std::string>& names) {
  StagedFolder staged(folder);
  text::write_file(staged.path() + "/index.html", words);
  for (const std::string& name : names) text::write_file(staged.path() + "/" + name, words);
  staged.publish("index.html");
}

TEST(StagedFolder, CreatesTheFolderAndWritesEveryFile) {
  const TemporaryFolder parent;
  const std::string folder = parent.path("report");
  publish(folder, "first", {"a.png", "b.csv"});
  EXPECT_EQ(get_file(folder + "/index.html"), "first");
  EXPECT_EQ(get_file(folder + "/a.png"), "first");
  EXPECT_EQ(get_file(folder + "/b.csv"), "first");
  EXPECT_EQ(parent.count(), 1);
}

TEST(StagedFolder, RemovesWhatTheLastRunWroteAndNothingElse) {
  const TemporaryFolder folder;
  put_file(folder.path("mine.txt"), "mine");
  publish(folder.path(), "first", {"a.png", "b.csv"});
  publish(folder.path(), "second", {"a.png", "c.csv"});
  EXPECT_EQ(get_file(folder.path("index.html")), "second");
  EXPECT_EQ(get_file(folder.path("a.png")), "second");
  EXPECT_EQ(get_file(folder.path("c.csv")), "second");
  EXPECT_FALSE(std::filesystem::exists(folder.path("b.csv")));
  EXPECT_EQ(get_file(folder.path("mine.txt")), "mine");
  EXPECT_EQ(folder.count(), 5);  // with the list of names
}

TEST(StagedFolder, BelievesNoListThatLeadsElsewhere) {
  const TemporaryFolder parent;
  put_file(parent.path("outside"), "keep");
  std::filesystem::create_directories(parent.path("report/folder"));
  put_file(parent.path("report/.hidden"), "keep");
  put_file(parent.path("report/.lookback-files"), "../outside\n.hidden\nfolder\n\n");
  publish(parent.path("report"), "first", {"a.png"});
  EXPECT_EQ(get_file(parent.path("outside")), "keep");
  EXPECT_EQ(get_file(parent.path("report/.hidden")), "keep");
  EXPECT_TRUE(std::filesystem::exists(parent.path("report/folder")));
}

TEST(StagedFolder, WithoutPublishingNothingChanges) {
  const TemporaryFolder parent;
  {
    StagedFolder staged(parent.path("report"));
    text::write_file(staged.path() + "/a.png", "half");
  }
  EXPECT_EQ(parent.count(), 0);
  publish(parent.path("report"), "first", {"a.png"});
  {
    StagedFolder staged(parent.path("report"));
    text::write_file(staged.path() + "/a.png", "half");
  }
  EXPECT_EQ(get_file(parent.path("report/a.png")), "first");
  EXPECT_EQ(get_file(parent.path("report/index.html")), "first");
}

TEST(StagedFolder, ChangesNothingWhenOneFileCannotBeReplaced) {
  const TemporaryFolder folder;
  publish(folder.path(), "first", {"a.png"});
  std::filesystem::create_directory(folder.path("b.png"));
  EXPECT_EQ(message_of([&] {
              publish(folder.path(), "second", {"a.png", "b.png"});
            }),
            "cannot write '" + folder.path("b.png") + "': Is a directory");
  EXPECT_EQ(get_file(folder.path("index.html")), "first");
  EXPECT_EQ(get_file(folder.path("a.png")), "first");
  EXPECT_EQ(folder.count(), 4);
}

TEST(StagedFolder, RefusesToReplaceWhatOthersWrote) {
  const TemporaryFolder folder;
  put_file(folder.path("a.png"), "mine");
  const std::string refused = "cannot replace '" + folder.path("a.png") + "': no earlier run wrote";
  EXPECT_EQ(message_of([&] { publish(folder.path(), "first", {"a.png"}); }).find(refused), 0U);
  EXPECT_EQ(get_file(folder.path("a.png")), "mine");
  EXPECT_EQ(folder.count(), 1);
  put_file(folder.path("index.html"), "mine");
  EXPECT_NE(message_of([&] { StagedFolder::check(folder.path(), "index.html"); }), "");
  EXPECT_EQ(get_file(folder.path("index.html")), "mine");
}

TEST(StagedFolder, KnowsWhatItWrote) {
  const TemporaryFolder folder;
  publish(folder.path(), "first", {"a.csv"});
  put_file(folder.path("mine.txt"), "mine");
  std::filesystem::create_symlink(folder.path("a.csv"), folder.path("link"));
  EXPECT_TRUE(StagedFolder::wrote(folder.path(), folder.path("./a.csv")));
  EXPECT_TRUE(StagedFolder::wrote(folder.path(), folder.path("link")));
  EXPECT_FALSE(StagedFolder::wrote(folder.path(), folder.path("mine.txt")));
  EXPECT_FALSE(StagedFolder::wrote(folder.path(), folder.path("missing")));
  EXPECT_FALSE(StagedFolder::wrote(folder.path("missing"), folder.path("a.csv")));
}

TEST(StagedFolder, RefusesBeforeTheWork) {
  const TemporaryFolder parent;
  put_file(parent.path("file"), "text");
  EXPECT_EQ(message_of([&] { StagedFolder::check(parent.path("file"), "index.html"); }),
            "'" + parent.path("file") + "' is not a folder");
  EXPECT_EQ(message_of([&] { StagedFolder::check(parent.path("no/report"), "index.html"); }),
            "cannot write '" + parent.path("no/report") + "': No such file or directory");
  EXPECT_EQ(message_of([&] { StagedFolder::check(parent.path("new/"), "index.html"); }), "");
  EXPECT_EQ(parent.count(), 1);
}

TEST(StagedFolderDeathTest, ASignalBeforePublishingLeavesTheOldReport) {
  const TemporaryFolder parent;
  const std::string folder = parent.path("report");
  const auto interrupted = [&] {
    StagedFolder staged(folder);
    text::write_file(staged.path() + "/index.html", "second");
    std::raise(SIGINT);
    text::write_file(staged.path() + "/a.png", "second");
    staged.publish("index.html");
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(parent.count(), 0);
  publish(folder, "first", {"a.png"});
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(get_file(folder + "/index.html"), "first");
  EXPECT_EQ(get_file(folder + "/a.png"), "first");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 3);
}

TEST(HoldSignalsDeathTest, ASignalWaitsForTheOutermostEnd) {
  const TemporaryFolder folder;
  const auto hold = [&] {
    const HoldSignals outer;
    {
      const HoldSignals inner;
      std::raise(SIGTERM);
    }
    put_file(folder.path("x"), HoldSignals::pending() ? "waits" : "lost");
  };
  EXPECT_EXIT(hold(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(get_file(folder.path("x")), "waits");
}

TEST(HoldSignalsDeathTest, IgnoredSignalsStayIgnored) {
  const auto ignoring = [] {
    std::signal(SIGHUP, SIG_IGN);
    {
      const HoldSignals hold;
      std::raise(SIGHUP);
    }
    std::_Exit(HoldSignals::pending() ? 1 : 0);
  };
  EXPECT_EXIT(ignoring(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace lookback
