// The program as a user meets it: exit codes, one-line errors, nothing left behind. Strategy: run
// run() in this process with real files in a temporary folder.
#include "tools/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace lookback::tools {
namespace {

namespace fs = std::filesystem;

struct Result {
  int code;
  std::string out;
  std::string err;
};

Result run_program(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"lookback"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(static_cast<int>(argv.size()), argv.data(), out, err);
  return {code, out.str(), err.str()};
}

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() /
        ("lookback-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  // One line, that names the program, the command and what was wrong; the exit code; no new file.
  void expect_refused(const std::vector<std::string>& arguments, int code,
                      const std::string& words) const {
    const size_t before = files();
    const Result result = run_program(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.err.rfind("lookback: ", 0), 0U) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(files(), before);
  }

  fs::path folder_;
};

std::vector<std::vector<double>> parse_csv(const std::string& text) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) {
      rows.back().push_back(std::stod(field));
    }
  }
  return rows;
}

TEST_F(ProgramTest, HeatmapOfAPromptIsACausalDistribution) {
  const Result result = run_program({"heatmap", "--prompt", "the cat sat on the mat", "--out",
                                     path("a.png"), "--csv", path("a.csv")});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto A = parse_csv(read("a.csv"));
  ASSERT_EQ(A.size(), 22U);
  for (size_t i = 0; i < A.size(); ++i) {
    ASSERT_EQ(A[i].size(), 22U);
    double total = 0;
    for (size_t j = 0; j < A.size(); ++j) {
      total += A[i][j];
      if (j > i) {
        EXPECT_EQ(A[i][j], 0.0);
      } else {
        EXPECT_GT(A[i][j], 0.0);
      }
    }
    EXPECT_NEAR(total, 1.0, 1e-6);
  }
  EXPECT_EQ(read("a.png").substr(1, 3), "PNG");
}

TEST_F(ProgramTest, TheSameSeedGivesTheSameBytesAndAnotherSeedOthers) {
  const auto draw = [&](const std::string& seed) {
    EXPECT_EQ(run_program({"heatmap", "--prompt", "to be or not", "--seed", seed, "--out",
                           path("x.png"), "--csv", path("x.csv")})
                  .code,
              0);
    return read("x.png") + read("x.csv");
  };
  const std::string first = draw("7");
  EXPECT_EQ(draw("7"), first);
  EXPECT_NE(draw("8"), first);
}

TEST_F(ProgramTest, OneTokenWorks) {
  EXPECT_EQ(run_program({"heatmap", "--prompt", "x", "--out", path("a.png")}).code, 0);
}

TEST_F(ProgramTest, NulAndCarriageReturnsStayTokens) {
  const std::string file = write("t.txt", std::string("a\0b\r\n", 5));
  ASSERT_EQ(
      run_program({"heatmap", "--text", file, "--out", path("a.png"), "--csv", path("a.csv")}).code,
      0);
  EXPECT_EQ(parse_csv(read("a.csv")).size(), 5U);
}

TEST_F(ProgramTest, GridsAndRowsAreDrawn) {
  for (const std::vector<std::string>& extra : std::vector<std::vector<std::string>>{
           {"--grid", "seeds"}, {"--grid", "heads", "--count", "3"}, {"--row", "-1"}}) {
    std::vector<std::string> arguments = {"heatmap", "--prompt", "the cat", "--out", path("g.png")};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    EXPECT_EQ(run_program(arguments).code, 0) << extra[0];
  }
}

TEST_F(ProgramTest, RefusesBadTexts) {
  const std::string out = path("a.png");
  expect_refused({"heatmap", "--prompt", "", "--out", out}, 1, "empty");
  expect_refused({"heatmap", "--text", write("e.txt", ""), "--out", out}, 1, "empty");
  expect_refused({"heatmap", "--text", write("i.txt", "ab\xff"), "--out", out}, 1, "byte 2");
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
  expect_refused({"heatmap", "--context", "2000", "--out", out}, 1, "longer");
  expect_refused({"heatmap", "--prompt", "abc", "--row", "3", "--out", out}, 1, "row");
}

TEST_F(ProgramTest, RefusesWrongUsage) {
  const std::string out = path("a.png");
  expect_refused({}, 2, "subcommand");
  expect_refused({"heetmap"}, 2, "heetmap");
  expect_refused({"heatmap"}, 2, "--out");
  expect_refused({"heatmap", "--out", out, "--nonsense"}, 2, "--nonsense");
  expect_refused({"heatmap", "--out", out, "--seed", "one"}, 2, "seed");
  expect_refused({"heatmap", "--out", out, "--context", "ten"}, 2, "context");
  expect_refused({"heatmap", "--out", out, "--prompt", "x", "--text", "y"}, 2, "--text");
}

TEST_F(ProgramTest, HelpIsNotAnError) {
  EXPECT_EQ(run_program({"--help"}).code, 0);
  for (const char* command : {"lab", "heatmap", "prove", "break", "influence", "scale", "atlas",
                              "smooth", "row", "stream", "order", "cost", "shapes", "graph"}) {
    const Result result = run_program({command, "--help"});
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_NE(result.out.find("--"), std::string::npos) << command;
  }
}

TEST_F(ProgramTest, ProveWritesALedgerThatParses) {
  const Result result = run_program(
      {"prove", "--json", path("p.json"), "--csv", path("p.csv"), "--out", path("p.html")});
  ASSERT_EQ(result.code, 0) << result.out;
  const nlohmann::json ledger = nlohmann::json::parse(read("p.json"));
  EXPECT_GT(ledger.size(), 30U);
  for (const auto& line : ledger) EXPECT_TRUE(line["proved"].get<bool>()) << line;
  EXPECT_NE(read("p.html").find("</html>"), std::string::npos);
}

TEST_F(ProgramTest, EveryExperimentRunsOnUnusualTexts) {
  const std::string text =
      write("u.txt", "caf\xc3\xa9 \xe6\xbc\xa2\xe5\xad\x97\t\xf0\x9f\x98\x80\r\nab");
  for (const char* command : {"influence", "atlas", "row", "stream", "order"}) {
    const Result result = run_program({command, "--text", text, "--out", path("u.png")});
    EXPECT_EQ(result.code, 0) << command << ": " << result.err;
  }
}

TEST_F(ProgramTest, TwoTokensAreEnoughOrClearlyRefused) {
  for (const char* command : {"heatmap", "influence", "atlas", "row", "stream", "order"}) {
    const Result result = run_program({command, "--prompt", "ab", "--out", path("u.png")});
    EXPECT_TRUE(result.code == 0 || result.err.rfind("lookback: ", 0) == 0) << command;
  }
}

// The commands of a page, as a shell would split them.
std::vector<std::vector<std::string>> commands_of(const std::string& page,
                                                  const std::string& script) {
  std::vector<std::vector<std::string>> commands;
  const std::string open = "<code>lookback ";
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    const size_t begin = at + open.size();
    std::ofstream(script) << "printf '%s\\n' "
                          << page.substr(begin, page.find("</code>", begin) - begin);
    std::FILE* pipe = popen(("bash '" + script + "'").c_str(), "r");
    commands.emplace_back();
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
      commands.back().emplace_back(line.data());
      commands.back().back().pop_back();
    }
    EXPECT_EQ(pclose(pipe), 0);
  }
  return commands;
}

TEST_F(ProgramTest, LabsPicturesAreThoseThatTheirCommandsDraw) {
  const std::string text =
      write("my text.txt", "First Citizen, to be or not: it's the question of the whole of this.");
  const Result lab = run_program({"lab", "--text", text, "--out", path("lab"), "--seed", "7"});
  ASSERT_EQ(lab.code, 0) << lab.err;
  const std::string page = read("lab/index.html");
  int64_t drawn = 0;
  for (std::vector<std::string> arguments : commands_of(page, path("split.sh"))) {
    if (arguments[0] == "lab" || arguments[0] == "cost") continue;  // cost has timings
    const auto out = std::find(arguments.begin(), arguments.end(), "--out");
    ASSERT_NE(out + 1, arguments.end()) << arguments[0];
    const std::string name = *(out + 1);
    // The footer holds the command as typed: it is typed in the folder that it writes to.
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    const Result result = run_program(arguments);
    fs::current_path(before);
    EXPECT_EQ(result.code, 0) << arguments[0] << ": " << result.err;
    if (!fs::exists(path("lab/" + name))) continue;  // a page of its own, or no Graphviz
    EXPECT_TRUE(read(name) == read("lab/" + name)) << name;
    ++drawn;
  }
  EXPECT_GE(drawn, 12);
  for (size_t at = page.find(".csv<"); at != std::string::npos; at = page.find(".csv<", at + 1)) {
    const size_t begin = page.find_last_of(" >", at) + 1;
    const std::string name = page.substr(begin, at + 4 - begin);
    EXPECT_TRUE(fs::exists(path("lab/" + name))) << name;
  }
}

TEST_F(ProgramTest, LabWithoutItsTextLeavesNoFolder) {
  expect_refused({"lab", "--text", path("missing.txt"), "--out", path("lab")}, 1,
                 "No such file or directory");
}

TEST_F(ProgramTest, ShapesRefusesHeadsThatDoNotDivide) {
  expect_refused({"shapes", "-D", "10", "-H", "3"}, 1, "divide");
}

TEST_F(ProgramTest, GraphIsGraphvizText) {
  const Result result = run_program({"graph"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.rfind("digraph", 0), 0U);
  EXPECT_NE(result.out.find("softmax"), std::string::npos);
  EXPECT_NE(result.out.find("|grad|"), std::string::npos);
}

}  // namespace
}  // namespace lookback::tools
