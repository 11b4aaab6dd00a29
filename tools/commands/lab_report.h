// What the lab does with its experiments: makes them one by one and writes them as a report.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/report/section.h"

namespace lookback::tools {

// One part of the lab: what it is called while it runs, and how to make it.
struct Part {
  std::string name;
  std::function<Section()> make;
};

// Makes the parts, telling of each on `err`, then writes the pictures, their numbers and index.html
// into `folder`: all of them or, after an error or Ctrl-C, none (text::StagedFolder). Returns the
// exit code: 1 when a part is not ok, which `err` says. Throws what a part throws.
int write_report(std::ostream& out, std::ostream& err, const std::string& command_line,
                 const std::vector<Part>& parts, const std::string& folder);

}  // namespace lookback::tools
