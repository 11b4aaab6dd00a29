// What the program refuses: one line, the exit code, and nothing written.
#include <gtest/gtest.h>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

TEST_F(ProgramTest, RefusesBadTexts) {
  const std::string out = path("a.png");
  expect_refused({"heatmap", "--prompt", "", "--out", out}, 2, "empty");
  expect_refused({"heatmap", "--text", write("e.txt", ""), "--out", out}, 1, "empty");
  expect_refused({"heatmap", "--text", write("i.txt", "ab\xff"), "--out", out}, 1,
                 "i.txt': invalid UTF-8 at byte 2");
  expect_refused({"heatmap", "--prompt", "ab\xff", "--out", out}, 1,
                 "the prompt: invalid UTF-8 at byte 2");
  expect_refused({"heatmap", "--text", write("b.txt", "\xef\xbb\xbf"), "--out", out}, 1,
                 "b.txt' is empty");
  expect_refused({"heatmap", "--text", "/dev/zero", "--out", out}, 1, "'/dev/zero'");
  expect_refused({"heatmap", "--text", path("missing.txt"), "--out", out}, 1,
                 "No such file or directory");
  expect_refused({"heatmap", "--text", folder_.string(), "--out", out}, 1, "directory");
}

TEST_F(ProgramTest, RefusesBadOutputs) {
  expect_refused({"heatmap", "--prompt", "x", "--out", path("no/a.png")}, 1,
                 "No such file or directory");
  expect_refused({"heatmap", "--prompt", "x", "--out", folder_.string()}, 1, "cannot write");
  expect_refused({"heatmap", "--prompt", "x", "--out", path("a.png"), "--csv", path("no/a.csv")}, 1,
                 "No such file or directory");
}

TEST_F(ProgramTest, RefusesBadContexts) {
  const std::string out = path("a.png");
  expect_refused({"heatmap", "--prompt", "abc", "--context", "0", "--out", out}, 2, "--context");
  expect_refused({"heatmap", "--prompt", "abc", "--context", "-3", "--out", out}, 2, "--context");
  expect_refused({"heatmap", "--prompt", "abc", "--context", "4", "--out", out}, 1, "longer");
  expect_refused({"heatmap", "--context", "2000", "--out", out}, 2, "from 1 to 1024");
}

TEST_F(ProgramTest, SaysWhichRowsThereAre) {
  for (const char* command : {"heatmap", "row"}) {
    expect_refused({command, "--prompt", "abc", "--row", "3", "--out", path("a.png")}, 1,
                   "there is no row 3: the rows of 3 tokens are 0 to 2");
  }
}

TEST_F(ProgramTest, RefusesWrongUsage) {
  const std::string out = path("a.png");
  expect_refused({}, 2, "command is required");
  expect_refused({"--nope"}, 2, "'--nope'");
  expect_refused({"--nope", "heatmap", "--out", out}, 2, "'--nope'");
  expect_refused({"heatmap", "--nope"}, 2, "'--nope'");
  expect_refused({"heetmap"}, 2, "heetmap");
  expect_refused({"heatmap"}, 2, "--out");
  expect_refused({"heatmap", "--out", out, "--nonsense"}, 2, "--nonsense");
  expect_refused({"heatmap", "--out", out, "--seed", "one"}, 2, "seed");
  expect_refused({"heatmap", "--out", out, "--context", "ten"}, 2, "context");
  expect_refused({"heatmap", "--out", out, "--prompt", "x", "--text", "y"}, 2, "--text");
}

TEST_F(ProgramTest, RefusesEmptyValues) {
  const std::string out = path("a.png");
  for (const char* option :
       {"--csv", "--text", "--prompt", "--seed", "--row", "--grid", "--head"}) {
    expect_refused({"heatmap", "--out", out, option, ""}, 2, option);
  }
  expect_refused({"heatmap", "--out", ""}, 2, "--out: the value is empty");
  expect_refused({"heatmap", "--out=", "--csv", path("a.csv")}, 2, "--out: the value is empty");
  for (const char* command : {"lab", "prove", "break", "influence", "scale", "atlas", "smooth",
                              "row", "stream", "order", "cost", "graph"}) {
    expect_refused({command, "--out", ""}, 2, "--out: the value is empty");
  }
  for (const char* option : {"--csv", "--json"}) expect_refused({"prove", option, ""}, 2, option);
  expect_refused({"shapes", "--csv", ""}, 2, "--csv");
  // The value of another option, however it looks.
  EXPECT_EQ(run_program({"heatmap", "--prompt", "--out=", "--out", out}).code, 0);
}

TEST_F(ProgramTest, RefusesNumbersThatDoNotFit) {
  const std::string out = path("a.png");
  for (const std::string seed : {"18446744073709551616", "-1", "99999999999999999999", "1.5", "0x1",
                                 " 1", "+1", "1e3", "one"}) {
    expect_refused({"heatmap", "--out", out, "--seed", seed}, 2,
                   "--seed: '" + seed + "' is not a whole number from 0 to 18446744073709551615");
  }
  for (const std::string option : {"--context", "--row", "--head", "--count"}) {
    expect_refused({"heatmap", "--grid", "seeds", "--out", out, option, "9223372036854775808"}, 2,
                   option + ": '9223372036854775808' is not a whole number from ");
  }
  EXPECT_EQ(
      run_program({"heatmap", "--prompt", "ab", "--seed", "18446744073709551615", "--out", out})
          .code,
      0);
}

TEST_F(ProgramTest, RefusesWhatWouldRunForEver) {
  const std::string out = path("a.png");
  expect_refused({"heatmap", "--out", out, "--head", "1024"}, 2, "from 0 to 1023");
  expect_refused({"heatmap", "--out", out, "--grid", "seeds", "--count", "65"}, 2, "from 1 to 64");
  expect_refused({"cost", "--max", "32769"}, 2, "from 1024 to 32768");
  expect_refused({"smooth", "--context", "1025"}, 2, "from 2 to 1024");
  expect_refused({"graph", "-T", "1025"}, 2, "from 1 to 1024");
  expect_refused({"shapes", "-T", "1025"}, 2, "from 1 to 1024");
  expect_refused({"shapes", "-B", "1024", "-T", "1024"}, 2,
                 "would have 4294967296 numbers, and 67108864 are the most");
  expect_refused({"heatmap", "--out", out, "--grid", "heads", "--count", "17", "--context", "1024"},
                 2, "--count 17 and --context 1024");
}

TEST_F(ProgramTest, RefusesOptionsThatWouldBeIgnored) {
  expect_refused({"heatmap", "--count", "3", "--out", path("a.png")}, 2, "--grid");
  expect_refused({"shapes", "--quiz", "--csv", path("a.csv")}, 2, "--quiz");
}

TEST_F(ProgramTest, RefusesToWriteOneFileTwice) {
  const auto refuse = [&](const std::string& out, const std::string& csv) {
    expect_refused({"heatmap", "--prompt", "x", "--out", out, "--csv", csv}, 2, "same file");
  };
  refuse(path("a"), path("a"));
  refuse(path("a.png"), path("./a.png"));
  refuse(path("a"), path("../" + folder_.filename().string() + "/a"));
  refuse(path("a"), fs::relative(path("a")).string());
  write("real", "keep");
  fs::create_symlink("real", path("link"));
  fs::create_hard_link(path("real"), path("twin"));
  fs::create_directory_symlink(folder_, path("here"));
  refuse(path("real"), path("link"));
  refuse(path("twin"), path("real"));
  refuse(path("new"), path("here/new"));
  EXPECT_EQ(read("real"), "keep");
  expect_refused({"prove", "--json", path("p"), "--csv", path("./p")}, 2, "same file");
  expect_refused({"prove", "--out", path("p"), "--json", path("./p")}, 2, "same file");
  expect_refused({"graph", "--out", path("p"), "--csv", path("p")}, 2, "same file");
  expect_refused({"row", "--text", path("real"), "--csv", path("link")}, 2, "same file");
  EXPECT_EQ(
      run_program({"heatmap", "--prompt", "x", "--out", "/dev/null", "--csv", "/dev/null"}).code,
      0);
}

TEST_F(ProgramTest, RefusesNamesOfOtherFormats) {
  for (const char* name : {"a.jpg", "a.JPEG", "a.svg", "a.gif", "a.webp", "a.pdf", "a.csv"}) {
    expect_refused({"heatmap", "--prompt", "x", "--out", path(name)}, 2, "writes .png");
  }
  expect_refused({"heatmap", "--prompt", "x", "--out", path("a.png"), "--csv", path("b.png")}, 2,
                 "writes .csv or .txt");
  expect_refused({"prove", "--out", path("a.json")}, 2, "writes .html or .htm");
  expect_refused({"graph", "--out", path("a.jpg")}, 2, "writes .dot");
  for (const char* name : {"a.PNG", "a", "run-1.5", ".hidden"}) {
    EXPECT_EQ(run_program({"heatmap", "--prompt", "x", "--out", path(name)}).code, 0) << name;
  }
}

TEST_F(ProgramTest, ChecksEveryOutputBeforeItWritesOne) {
  expect_refused({"prove", "--csv", path("p.csv"), "--json", path("no/p.json")}, 1,
                 "No such file or directory");
}

TEST_F(ProgramTest, AFullDeviceLeavesNoOtherFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  const std::string csv = path("a.csv");
  const std::string json = path("a.json");
  const std::string full = "cannot write '/dev/full': No space left on device";
  for (const char* command : {"shapes", "graph", "prove", "row"}) {
    expect_refused({command, "--csv", csv, "--out", "/dev/full"}, 1, full);
  }
  expect_refused({"heatmap", "--prompt", "x", "--csv", csv, "--out", "/dev/full"}, 1, full);
  expect_refused({"prove", "--csv", csv, "--json", "/dev/full"}, 1, full);
  expect_refused({"row", "--out", path("a.png"), "--csv", csv, "--json", "/dev/full"}, 1, full);
  expect_refused({"row", "--json", json, "--csv", "/dev/full"}, 1, full);
}

TEST_F(ProgramTest, LabWithoutItsTextLeavesNoFolder) {
  expect_refused({"lab", "--text", path("missing.txt"), "--out", path("lab")}, 1,
                 "No such file or directory");
}

TEST_F(ProgramTest, LabNeverReplacesItsText) {
  const std::string text = write("index.html", "to be or not to be");
  const std::string early = "stands in the report's folder and ends in .";
  expect_refused({"lab", "--text", text, "--out", folder_.string()}, 2, early + "html");
  const std::string csv = write("heatmap.csv", "to be or not to be");
  expect_refused({"lab", "--text", csv, "--out", folder_.string()}, 2, early + "csv");
  fs::create_symlink("heatmap.csv", path("link"));
  expect_refused({"lab", "--text", path("link"), "--out", folder_.string()}, 2, early + "csv");
  write(".lookback-files", "index.html\n");  // as if an earlier run had written it
  expect_refused({"lab", "--text", text, "--out", folder_.string()}, 2, "--text '" + text);
  EXPECT_EQ(read("index.html"), "to be or not to be");
}

TEST_F(ProgramTest, ShapesRefusesHeadsThatDoNotDivide) {
  expect_refused({"shapes", "-D", "10", "-H", "3"}, 2, "divide");
}

}  // namespace
}  // namespace lookback::tools
