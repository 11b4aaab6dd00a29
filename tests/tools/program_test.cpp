// The program as a user meets it: what each command writes, and its exit code.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/program_support.h"

namespace lookback::tools {
namespace {

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
    const Result result = run_program(arguments);
    EXPECT_EQ(result.code, 0) << extra[0];
    EXPECT_GE(lines(result.out), 1) << extra[0];
  }
}

TEST_F(ProgramTest, TellsWhenStandardOutputIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  for (const std::vector<const char*>& argv :
       std::vector<std::vector<const char*>>{{"lookback", "--help"},
                                             {"lookback", "graph"},
                                             {"lookback", "prove"},
                                             {"lookback", "shapes"}}) {
    std::ofstream full("/dev/full");
    std::ostringstream err;
    EXPECT_EQ(run(static_cast<int>(argv.size()), argv.data(), full, err), 1) << argv[1];
    EXPECT_NE(err.str().find("cannot write to standard output: No space left on device\n"),
              std::string::npos)
        << err.str();
    EXPECT_EQ(lines(err.str()), 1) << err.str();
  }
}

TEST_F(ProgramTest, APipeIsATextForEveryPart) {
  for (const char* command : {"heatmap", "atlas"}) {  // atlas loads its text more than once
    const std::string pipe = path(command);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << "to be or not"; });
    const Result result = run_program({command, "--text", pipe, "--out", path("a.png")});
    writer.join();
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(ProgramTest, AQuizCountsWhatItAsked) {
  std::istringstream answers("64, 64\n1\n");
  std::streambuf* const before = std::cin.rdbuf(answers.rdbuf());
  const Result result = run_program({"shapes", "--quiz"});
  std::cin.rdbuf(before);
  std::cin.clear();
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("\n1 of 2 right\n"), std::string::npos) << result.out;
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

TEST_F(ProgramTest, GraphIsGraphvizText) {
  const Result result = run_program({"graph"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.rfind("digraph", 0), 0U);
  EXPECT_NE(result.out.find("softmax"), std::string::npos);
  EXPECT_NE(result.out.find("|grad|"), std::string::npos);
}

}  // namespace
}  // namespace lookback::tools
