// lookback lab: everything, in one run, as a folder that one would keep.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tools/commands/commands.h"
#include "tools/commands/heatmap.h"
#include "tools/commands/lab_report.h"
#include "tools/commands/sections.h"
#include "tools/program.h"
#include "tools/report/graphviz.h"
#include "tools/text/staged_folder.h"

namespace lookback::tools {
namespace {

// Of the files of a report.
const std::vector<std::string> kEndings = {".png", ".csv", ".html", ".dot", ".svg"};

struct LabOptions {
  TextOptions text;  // a file or the bundled one
  std::string out = "lab-out";
  uint64_t seed = 1;
};

std::vector<Part> lab_parts(const LabOptions& options) {
  const TextOptions text = options.text;
  const std::string seed = " --seed " + std::to_string(options.seed);
  const std::string with_text =
      seed + (text.file.empty() ? "" : " --text " + command_word(text.file));
  // Each picture is drawn as the command line that it bears would draw it.
  const auto line = [](const std::string& name, const std::string& tail) {
    return "lookback " + name + " --out " + name + ".png" + tail;
  };
  const std::string graph = graphviz("digraph {}", "svg").has_value() ? "graph.svg" : "graph.dot";
  const uint64_t n = options.seed;
  return {
      {"heatmap", [=] { return heatmap_section(text, n, with_text); }},
      {"prove", [=] { return prove_section(n, "lookback prove --out prove.html" + seed); }},
      {"break", [=] { return break_section(n, line("break", seed)); }},
      {"influence", [=] { return influence_section(text, n, line("influence", with_text)); }},
      {"scale", [=] { return scale_section(n, line("scale", seed)); }},
      {"atlas", [=] { return atlas_section(text, n, line("atlas", with_text)); }},
      {"smooth", [=] { return smooth_section(64, n, line("smooth", seed)); }},
      {"row", [=] { return row_section(text, n, -1, line("row", with_text)); }},
      {"stream", [=] { return stream_section(text, n, line("stream", with_text)); }},
      {"order", [=] { return order_section(text, n, line("order", with_text)); }},
      {"cost", [=] { return cost_section(2048, n, line("cost", seed)); }},
      {"shapes", [=] { return shapes_section({}, "lookback shapes --out shapes.html"); }},
      {"graph", [=] { return graph_section(n, "lookback graph --out " + graph + seed); }},
  };
}

// A text in the report's folder that the report would replace is refused: one that an earlier run
// wrote, and any that is called as a report's files are, since their names are known too late.
void check_text(const std::string& file, const std::string& folder) {
  if (file.empty()) return;
  if (text::StagedFolder::wrote(folder, file)) {
    throw UsageError("--text '" + file + "' is a file of the report in '" + folder +
                     "', which would be replaced");
  }
  std::error_code unknown;  // the folder may be missing
  for (const auto& entry : std::filesystem::directory_iterator(folder, unknown)) {
    const std::string ending = ending_of(entry.path());
    const bool like_ours = std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
    if (!like_ours || !std::filesystem::equivalent(entry.path(), file, unknown)) continue;
    throw UsageError("--text '" + file + "' stands in the report's folder and ends in " + ending +
                     " as the report's files do; move it, or name another --out");
  }
}

int run_lab(Program& program, const LabOptions& options) {
  check_text(options.text.file, options.out);
  load_text(options.text);  // refused before anything is made
  return write_report(program.out, program.err, program.command_line, lab_parts(options),
                      options.out);
}

}  // namespace

void add_lab(Program& program) {
  const auto options = std::make_shared<LabOptions>();
  CommandLine command = add_command(program, "lab", "Run every experiment and write a report",
                                    [options](Program& p) { return run_lab(p, *options); });
  command.input("--text", options->text.file, "A UTF-8 text file (default: the bundled one)");
  command.text("--out", options->out, "The folder to write, replacing the report that it has");
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
