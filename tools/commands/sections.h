// The sections of the lab's report, one function per experiment; each stands in the file of its
// command. `command` is the line that draws it again.
#pragma once

#include <cstdint>
#include <string>

#include "tools/commands/options.h"
#include "tools/report/section.h"

namespace lookback::tools {

Section prove_section(uint64_t seed, const std::string& command);
Section break_section(uint64_t seed, const std::string& command);
Section influence_section(const TextOptions& text, uint64_t seed, const std::string& command);
Section scale_section(uint64_t seed, const std::string& command);
Section atlas_section(const TextOptions& text, uint64_t seed, const std::string& command);
Section smooth_section(int64_t T, uint64_t seed, const std::string& command);
Section order_section(const TextOptions& text, uint64_t seed, const std::string& command);

}  // namespace lookback::tools
