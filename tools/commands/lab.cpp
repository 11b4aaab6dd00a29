// lookback lab: everything, in one run, as a folder that one would keep.
#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>

#include "tools/commands/commands.h"
#include "tools/commands/heatmap.h"
#include "tools/commands/options.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/program.h"
#include "tools/report/page.h"
#include "tools/text/files.h"

namespace lookback::tools {
namespace {

namespace fs = std::filesystem;

struct LabOptions {
  std::string text_file;
  std::string out = "lab-out";
  uint64_t seed = 1;
};

// One part of the lab: what it is called while it runs, and how to make it.
struct Part {
  std::string name;
  std::function<Section()> make;
};

std::vector<Part> lab_parts(const LabOptions& options) {
  TextOptions text;
  text.file = options.text_file;
  const std::string seed = " --seed " + std::to_string(options.seed);
  const std::string with_text =
      seed + (options.text_file.empty() ? "" : " --text " + command_word(options.text_file));
  // Each picture is drawn as the command line that it bears would draw it.
  const auto line = [](const std::string& name, const std::string& tail) {
    return "lookback " + name + " --out " + name + ".png" + tail;
  };
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
      {"graph", [=] { return graph_section(n, "lookback graph --out graph.svg" + seed); }},
  };
}

// Creates the folder, if it is missing, in an existing one. Throws std::runtime_error.
void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directory(path, error);
  if (error) {
    throw std::runtime_error("cannot create the folder '" + path + "': " + error.message());
  }
  if (!fs::is_directory(path)) throw std::runtime_error("'" + path + "' is not a folder");
}

int run_lab(Program& program, const LabOptions& options) {
  using Clock = std::chrono::steady_clock;
  TextOptions wanted;
  wanted.file = options.text_file;
  load_text(wanted);  // refused before anything is written
  make_folder(options.out);
  const std::vector<Part> parts = lab_parts(options);
  std::vector<Section> sections;
  bool ok = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    program.err << "[" << i + 1 << "/" << parts.size() << "] " << parts[i].name << " ..."
                << std::flush;
    const Clock::time_point start = Clock::now();
    sections.push_back(parts[i].make());
    write_section(sections.back(), options.out);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    program.err << ' ' << static_cast<int>(seconds * 10) / 10.0 << " s"
                << (sections.back().ok() ? "" : "  FAILED") << '\n';
    if (report_failures(program.err, sections.back()) != 0) ok = false;
  }
  const PageText text = {
      "Causal self-attention, looked at",
      "What is called proved, broken or measured below was so by the run that made this page. "
      "Pictures show rows as queries and columns as keys. Each picture, table and list of facts "
      "names the file beside this page that holds its numbers.",
      program.command_line};
  text::write_file(options.out + "/index.html", page(text, sections));
  program.out << "The pictures and their numbers are in " << options.out << "; the report is "
              << options.out << "/index.html\n";
  return ok ? 0 : 1;
}

}  // namespace

void add_lab(Program& program) {
  const auto options = std::make_shared<LabOptions>();
  CommandLine command = add_command(program, "lab", "Run every experiment and write a report",
                                    [options](Program& p) { return run_lab(p, *options); });
  command.text("--text", options->text_file, "A UTF-8 text file (default: the bundled one)");
  command.text("--out", options->out, "The folder to write");
  add_seed_option(command, options->seed);
}

}  // namespace lookback::tools
