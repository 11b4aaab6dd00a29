// The commands of the program, one file each. To add one: copy a neighbour, then name it here and
// in commands.cpp.
#pragma once

namespace lookback::tools {

struct Program;

void add_heatmap(Program& program);
void add_lab(Program& program);
void add_prove(Program& program);
void add_break(Program& program);
void add_influence(Program& program);
void add_scale(Program& program);
void add_atlas(Program& program);
void add_smooth(Program& program);
void add_order(Program& program);
void add_row(Program& program);
void add_stream(Program& program);
void add_cost(Program& program);
void add_shapes(Program& program);
void add_graph(Program& program);

void add_all_commands(Program& program);

}  // namespace lookback::tools
