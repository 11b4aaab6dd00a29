// lookback lab: everything, in one run, as a folder that one would keep.
#include <chrono>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>

#include "tools/commands/commands.h"
#include "tools/commands/heatmap.h"
#include "tools/commands/options.h"
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
  const std::string tail = " --seed " + std::to_string(options.seed);
  const std::string with_text =
      tail + (options.text_file.empty() ? "" : " --text " + options.text_file);
  return {
      {"heatmap", [=] { return heatmap_section(text, options.seed); }},
      {"prove", [=] { return prove_section(options.seed, "lookback prove" + tail); }},
      {"break",
       [=] { return break_section(options.seed, "lookback break --out break.png" + tail); }},
      {"influence",
       [=] {
         return influence_section(text, options.seed,
                                  "lookback influence --out influence.png" + with_text);
       }},
      {"scale",
       [=] { return scale_section(options.seed, "lookback scale --out scale.png" + tail); }},
      {"atlas",
       [=] {
         return atlas_section(text, options.seed, "lookback atlas --out atlas.png" + with_text);
       }},
      {"smooth",
       [=] { return smooth_section(64, options.seed, "lookback smooth --out smooth.png" + tail); }},
      {"row",
       [=] {
         return row_section(text, options.seed, -1, "lookback row --out row.png" + with_text);
       }},
      {"stream",
       [=] {
         return stream_section(text, options.seed, "lookback stream --out stream.png" + with_text);
       }},
      {"order",
       [=] {
         return order_section(text, options.seed, "lookback order --out order.png" + with_text);
       }},
      {"cost",
       [=] { return cost_section(2048, options.seed, "lookback cost --out cost.png" + tail); }},
      {"shapes", [=] { return shapes_section({}, "lookback shapes"); }},
      {"graph",
       [=] { return graph_section(options.seed, "lookback graph --out graph.svg" + tail); }},
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

void write_section(const Section& section, const std::string& folder) {
  for (const Figure& figure : section.figures) {
    const std::string stem = folder + "/" + figure.name;
    write_figure(figure, stem + ".png", stem + ".csv");
  }
  for (const Drawing& drawing : section.drawings) {
    const std::string stem = folder + "/" + drawing.name;
    text::write_file(stem + ".dot", drawing.dot);
    if (!drawing.svg.empty()) text::write_file(stem + ".svg", drawing.svg);
  }
  for (size_t i = 0; i < section.tables.size(); ++i) {
    const std::string number = i == 0 ? "" : "-" + std::to_string(i + 1);
    write_table(section.tables[i], folder + "/" + section.id + "-table" + number + ".csv");
  }
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
                << (sections.back().ok ? "" : "  FAILED") << '\n';
    ok = ok && sections.back().ok;
  }
  const PageText text = {
      "Causal self-attention, looked at",
      "Every claim below was checked, broken or measured by the run that made this page. Pictures "
      "show rows as queries and columns as keys; the numbers of each stand beside it as CSV.",
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
