// Files: whole or not at all, and errors that say what is wrong with which path. Permission errors
// are not tested as root, whom nothing is denied.
#include "tools/text/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/tools/files_support.h"

namespace lookback {
namespace {

using test::get_file;
using test::message_of;
using test::put_file;
using test::TemporaryFolder;
using text::read_file;
using text::write_file;

TEST(ReadFile, ReturnsEveryByte) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  put_file(folder.path("x"), bytes);
  EXPECT_EQ(read_file(folder.path("x")), bytes);
}

TEST(ReadFile, ReadsMoreThanOneBuffer) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 200000; ++i) bytes += static_cast<char>('a' + i % 26);
  put_file(folder.path("x"), bytes);
  EXPECT_EQ(read_file(folder.path("x")), bytes);
}

TEST(ReadFile, SaysWhatIsMissing) {
  EXPECT_EQ(message_of([] { read_file("no-such-file.txt"); }),
            "cannot open 'no-such-file.txt': No such file or directory");
}

TEST(ReadFile, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { read_file(folder.path()); }),
            "cannot open '" + folder.path() + "': Is a directory");
}

TEST(ReadFile, RefusesAnEmptyFile) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "");
  EXPECT_EQ(message_of([&] { read_file(folder.path("x")); }),
            "'" + folder.path("x") + "' is empty");
}

TEST(ReadFile, RefusesDevicesThatNeverEnd) {
  for (const std::string device : {"/dev/zero", "/dev/full"}) {
    if (!std::filesystem::exists(device)) continue;
    EXPECT_EQ(message_of([&] { read_file(device); }),
              "cannot read '" + device + "': it is a device, not a file or a pipe");
  }
}

TEST(ReadFile, RefusesWhatIsTooLong) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "x");
  std::filesystem::resize_file(folder.path("x"), text::kLongestFile + 1);  // a hole: no disk space
  EXPECT_EQ(message_of([&] { read_file(folder.path("x")); }),
            "'" + folder.path("x") + "' is longer than the 256 MiB that are read at most");
}

TEST(ReadFile, ReadsAPipeToItsEnd) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const std::string bytes(100000, 'p');
  std::thread writer([&] { put_file(folder.path("pipe"), bytes); });
  EXPECT_EQ(read_file(folder.path("pipe")), bytes);
  writer.join();
}

TEST(ReadFile, RefusesAFileUsedAsAFolder) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "text");
  EXPECT_EQ(message_of([&] { read_file(folder.path("x/y")); }),
            "cannot open '" + folder.path("x/y") + "': Not a directory");
}

TEST(ReadFile, RefusesAnUnreadableFile) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "text");
  ::chmod(folder.path("x").c_str(), 0);
  if (::access(folder.path("x").c_str(), R_OK) != 0) {
    EXPECT_EQ(message_of([&] { read_file(folder.path("x")); }),
              "cannot open '" + folder.path("x") + "': Permission denied");
  }
}

TEST(WriteFile, WritesEveryByteAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  write_file(folder.path("x"), bytes);
  EXPECT_EQ(get_file(folder.path("x")), bytes);
  EXPECT_EQ(folder.count(), 1);
}

TEST(WriteFile, ReplacesAnOlderFile) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "a longer text than the new one");
  write_file(folder.path("x"), "new");
  EXPECT_EQ(get_file(folder.path("x")), "new");
}

TEST(WriteFile, WritesAnEmptyFile) {
  const TemporaryFolder folder;
  write_file(folder.path("x"), "");
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path("x")));
}

TEST(WriteFile, TakesTheLongestNames) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  write_file(folder.path(name), "text");
  EXPECT_EQ(get_file(folder.path(name)), "text");
  EXPECT_EQ(message_of([&] { write_file(folder.path(name + "n"), "text"); }),
            "cannot write '" + folder.path(name + "n") + "': File name too long");
  EXPECT_EQ(folder.count(), 1);
}

TEST(WriteFile, SaysThatTheFolderIsMissing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("missing/x.png");
  EXPECT_THROW(write_file(path, "x"), std::runtime_error);
  EXPECT_EQ(message_of([&] { write_file(path, "x"); }),
            "cannot write '" + path + "': No such file or directory");
  EXPECT_EQ(folder.count(), 0);
}

TEST(WriteFile, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { write_file(folder.path(), "x"); }),
            "cannot write '" + folder.path() + "': Is a directory");
  EXPECT_EQ(message_of([&] { write_file(folder.path("new/"), "x"); }),
            "cannot write '" + folder.path("new/") + "': Is a directory");
  EXPECT_EQ(folder.count(), 0);
}

TEST(WriteFile, RefusesAnEmptyPath) {
  EXPECT_EQ(message_of([] { write_file("", "x"); }), "cannot write '': No such file or directory");
}

TEST(WriteFile, RefusesAFileUsedAsAFolder) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "text");
  EXPECT_EQ(message_of([&] { write_file(folder.path("x/y"), "x"); }),
            "cannot write '" + folder.path("x/y") + "': Not a directory");
}

TEST(WriteFile, RefusesAReadOnlyFile) {
  const TemporaryFolder folder;
  put_file(folder.path("x"), "keep");
  ::chmod(folder.path("x").c_str(), 0444);
  if (::access(folder.path("x").c_str(), W_OK) != 0) {
    EXPECT_EQ(message_of([&] { write_file(folder.path("x"), "x"); }),
              "cannot write '" + folder.path("x") + "': Permission denied");
    EXPECT_EQ(get_file(folder.path("x")), "keep");
  }
}

TEST(WriteFile, FollowsALink) {
  const TemporaryFolder folder;
  put_file(folder.path("real"), "old");
  std::filesystem::create_symlink("real", folder.path("link"));
  write_file(folder.path("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(get_file(folder.path("real")), "new");
}

TEST(WriteFile, WritesToADeviceWithoutReplacingIt) {
  write_file("/dev/null", "text");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

TEST(WriteFile, ReportsAFullDevice) {
  if (!std::filesystem::exists("/dev/full")) return;
  EXPECT_EQ(message_of([] { write_file("/dev/full", "text"); }),
            "cannot write '/dev/full': No space left on device");
}

TEST(WriteFile, GivesTheUsualPermissions) {
  const TemporaryFolder folder;
  write_file(folder.path("x"), "text");
  put_file(folder.path("y"), "text");
  EXPECT_EQ(std::filesystem::status(folder.path("x")).permissions(),
            std::filesystem::status(folder.path("y")).permissions());
}

TEST(StagedFiles, AppearTogether) {
  const TemporaryFolder folder;
  put_file(folder.path("a"), "old");
  {
    text::StagedFiles files;
    files.add(folder.path("a"), "1");
    files.add(folder.path("b"), "2");
    EXPECT_EQ(get_file(folder.path("a")), "old");
    EXPECT_FALSE(std::filesystem::exists(folder.path("b")));
    files.publish();
  }
  EXPECT_EQ(get_file(folder.path("a")), "1");
  EXPECT_EQ(get_file(folder.path("b")), "2");
  EXPECT_EQ(folder.count(), 2);
}

TEST(StagedFiles, OneThatCannotBeWrittenCostsAllOthers) {
  const TemporaryFolder folder;
  put_file(folder.path("a"), "old");
  EXPECT_EQ(message_of([&] {
              text::StagedFiles files;
              files.add(folder.path("a"), "1");
              files.add(folder.path("missing/b"), "2");
              files.publish();
            }),
            "cannot write '" + folder.path("missing/b") + "': No such file or directory");
  EXPECT_EQ(get_file(folder.path("a")), "old");
  EXPECT_EQ(folder.count(), 1);
}

TEST(StagedFiles, AFullDeviceCostsNoFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] {
              text::StagedFiles files;
              files.add(folder.path("a"), "1");
              files.add("/dev/full", "2");
              files.publish();
            }),
            "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(folder.count(), 0);
}

// A pipe may wait for its reader for ever: Ctrl-C must end that.
TEST(StagedFilesDeathTest, CtrlCEndsTheWaitForAReader) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const auto wait = [&] {
    ::alarm(5);
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      ::kill(::getpid(), SIGINT);
    }).detach();
    text::StagedFiles files;
    files.add(folder.path("a"), "1");
    files.add(folder.path("pipe"), "2");
    files.publish();
  };
  EXPECT_EXIT(wait(), testing::KilledBySignal(SIGINT), "");
  EXPECT_EQ(folder.count(), 1);
}

TEST(CheckWritable, WritesNothing) {
  const TemporaryFolder folder;
  text::check_writable(folder.path("x"));
  EXPECT_EQ(folder.count(), 0);
}

TEST(CheckWritable, RefusesAsWritingWould) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of([&] { text::check_writable(folder.path("missing/x")); }),
            "cannot write '" + folder.path("missing/x") + "': No such file or directory");
  EXPECT_EQ(message_of([&] { text::check_writable(folder.path()); }),
            "cannot write '" + folder.path() + "': Is a directory");
}

}  // namespace
}  // namespace lookback
