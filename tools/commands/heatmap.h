// lookback heatmap: causal self-attention of one untrained head on real text, as a picture.
#pragma once

#include <optional>
#include <string>

#include "tools/commands/options.h"
#include "tools/report/section.h"

namespace lookback::tools {

enum class Grid { none, heads, seeds };

struct HeatmapOptions {
  TextOptions text;
  uint64_t seed = 1;
  int64_t head = 0;  // which of those drawn one after another from the seed
  Grid grid = Grid::none;
  int64_t count = 5;           // panels of a grid
  std::optional<int64_t> row;  // one query's distribution as bars; negative: from the end
  std::string command;         // for the footer
};

// What of the rows (n, T) of queries first_query ... is not as attention must be: sums of 1, and
// exactly 0 after the query. Empty if nothing.
std::string simplex_failure(const std::string& name, const Tensor& rows, int64_t first_query = 0);

// For the lab: the text's heatmap, several seeds, several heads, and the last query's row.
// `arguments`: those that say so on a command line, " --seed 1 --text t.txt".
Section heatmap_section(const TextOptions& text, uint64_t seed, const std::string& arguments);

}  // namespace lookback::tools
