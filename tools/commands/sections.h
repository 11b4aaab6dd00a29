// The sections of the lab's report, one function per experiment; each stands in the file of its
// command. `command` is the line that draws it again.
#pragma once

#include <cstdint>
#include <string>

#include "tools/commands/options.h"
#include "tools/report/section.h"

namespace lookback::tools {

struct ShapesOptions {
  int64_t B = 2;
  int64_t T = 8;
  int64_t D = 64;
  int64_t H = 4;
};

Section prove_section(uint64_t seed, const std::string& command);
Section break_section(uint64_t seed, const std::string& command);
Section influence_section(const TextOptions& text, uint64_t seed, const std::string& command);
Section scale_section(uint64_t seed, const std::string& command);
Section atlas_section(const TextOptions& text, uint64_t seed, const std::string& command);
Section smooth_section(int64_t T, uint64_t seed, const std::string& command);
Section row_section(const TextOptions& text, uint64_t seed, int64_t row,
                    const std::string& command);
Section stream_section(const TextOptions& text, uint64_t seed, const std::string& command);
Section cost_section(int64_t max_T, uint64_t seed, const std::string& command);
Section shapes_section(const ShapesOptions& options, const std::string& command);
Section graph_section(uint64_t seed, const std::string& command);
Section order_section(const TextOptions& text, uint64_t seed, const std::string& command);

}  // namespace lookback::tools
