#include "tools/commands/commands.h"

namespace lookback::tools {

// In the order in which --help lists them.
void add_all_commands(Program& program) {
  add_lab(program);
  add_heatmap(program);
  add_prove(program);
  add_break(program);
  add_order(program);
}

}  // namespace lookback::tools
