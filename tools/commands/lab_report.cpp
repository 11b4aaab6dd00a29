// Experiments first, files last: an error leaves the old report as it was.
#include "tools/commands/lab_report.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <ostream>

#include "tools/commands/section_command.h"
#include "tools/report/page.h"
#include "tools/text/files.h"
#include "tools/text/staged_folder.h"

namespace lookback::tools {
namespace {

constexpr const char* kIndex = "index.html";

// A part that cannot be made says why in its place in the report; the others are not lost for it.
Section made(const Part& part) {
  try {
    return part.make();
  } catch (const std::exception& error) {
    Section section;
    section.id = part.name;
    section.title = part.name;
    section.claim = "This part could not be made.";
    section.failures = {error.what()};
    section.command = "lookback " + part.name;
    return section;
  }
}

std::vector<Section> make_parts(std::ostream& err, const std::vector<Part>& parts) {
  using Clock = std::chrono::steady_clock;
  std::vector<Section> sections;
  for (size_t i = 0; i < parts.size(); ++i) {
    err << "[" << i + 1 << "/" << parts.size() << "] " << parts[i].name << " ..." << std::flush;
    const Clock::time_point start = Clock::now();
    sections.push_back(made(parts[i]));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    err << ' ' << static_cast<int>(seconds * 10) / 10.0 << " s"
        << (sections.back().ok() ? "" : "  FAILED") << '\n';
    report_failures(err, sections.back());
  }
  return sections;
}

}  // namespace

int write_report(std::ostream& out, std::ostream& err, const std::string& command_line,
                 const std::vector<Part>& parts, const std::string& folder) {
  text::StagedFolder::check(folder, kIndex);
  const std::vector<Section> sections = make_parts(err, parts);
  PageText words = {
      "Causal self-attention, looked at",
      "What is called proved, broken or measured below was so by the run that made this page. "
      "Pictures show rows as queries and columns as keys. Each picture, table and list of facts "
      "names the file beside this page that holds its numbers. The commands find the program once "
      "its folder, build/release/tools, is on the PATH.",
      command_line};
  {
    text::StagedFolder staged(folder);
    for (const Section& section : sections) write_section(section, staged.path());
    words.folder = staged.path();
    text::write_file(staged.path() + "/" + kIndex, page(words, sections));
    staged.publish(kIndex);
  }
  out << "The pictures and their numbers are in " << folder << "; the report is " << folder << "/"
      << kIndex << '\n';
  const bool ok = std::all_of(sections.begin(), sections.end(),
                              [](const Section& section) { return section.ok(); });
  return ok ? 0 : 1;
}

}  // namespace lookback::tools
