// The list of commands.
#include "tools/commands/commands.h"

namespace lookback::tools {

// In the order in which --help lists them.
void add_all_commands(Program& program) {
  add_lab(program);
  add_heatmap(program);
  add_prove(program);
  add_break(program);
  add_influence(program);
  add_scale(program);
  add_atlas(program);
  add_smooth(program);
  add_row(program);
  add_stream(program);
  add_order(program);
  add_cost(program);
  add_shapes(program);
  add_graph(program);
}

}  // namespace lookback::tools
