// lookback shapes: a traced forward pass, every tensor with its shape; and a quiz on them.
#include <iostream>
#include <memory>
#include <sstream>

#include "attention/multi_head.h"
#include "engine/graph_dot.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"

namespace lookback::tools {
namespace {

std::string text_of(const Shape& shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

// "[2, 4, 8, 16]" as "B, H, T, d_k", where sizes tell axes apart; else the number itself.
std::string axes_of(const Shape& shape, const ShapesOptions& o) {
  const std::vector<std::pair<int64_t, std::string>> names = {
      {o.B, "B"}, {o.T, "T"}, {o.D, "D"}, {o.H, "H"}, {o.D / o.H, "d_k"}};
  std::string text;
  for (const int64_t size : shape) {
    std::string meaning;
    for (const auto& [value, name] : names) {
      if (value == size) meaning += (meaning.empty() ? "" : " or ") + name;
    }
    if (meaning.empty()) meaning = std::to_string(size);
    text += (text.empty() ? "" : ", ") + meaning;
  }
  return text.empty() ? "a number" : text;
}

// The recorded ops of one multi-head forward pass, in the order in which they ran.
std::vector<std::shared_ptr<Node>> traced(const ShapesOptions& o, Tensor& output) {
  Generator generator(1);
  attention::MultiHeadAttention mha(
      {.d_model = o.D, .num_heads = o.H, .bias = false, .fused = false}, generator);
  const Tensor x = randn({o.B, o.T, o.D}, generator).set_requires_grad(true);
  output = mha.forward(x);
  return graph_nodes(output);
}

int quiz(Program& program, const ShapesOptions& o, std::istream& in) {
  Tensor output;
  int64_t asked = 0;
  int64_t right = 0;
  program.out << "B " << o.B << ", T " << o.T << ", D " << o.D << ", H " << o.H
              << ". Write each result's shape, like 2, 8, 64. Verify on paper first.\n";
  for (const auto& node : traced(o, output)) {
    if (node->is_leaf()) continue;
    program.out << ++asked << ". " << node->op << ": " << std::flush;
    std::string line;
    if (!std::getline(in, line)) break;
    std::string digits;
    for (const char c : line) digits += (c >= '0' && c <= '9') || c == '-' ? c : ' ';
    std::istringstream numbers(digits);
    std::vector<int64_t> answer;
    for (int64_t n = 0; numbers >> n;) answer.push_back(n);
    const bool ok = answer == node->shape.to_vector();
    right += ok ? 1 : 0;
    program.out << (ok ? "right" : "no: it is " + text_of(node->shape)) << '\n';
  }
  program.out << right << " of " << asked << " right\n";
  return 0;
}

}  // namespace

Section shapes_section(const ShapesOptions& o, const std::string& command) {
  check(o.D % o.H == 0, "shapes", "H must divide D; got D ", o.D, " and H ", o.H);
  Tensor output;
  Table table;
  table.title = "One multi-head forward pass, composed path, no bias";
  table.header = {"step", "op", "shape", "axes", "bytes"};
  int64_t step = 0;
  int64_t bytes = 0;
  for (const auto& node : traced(o, output)) {
    const int64_t size = node->shape.numel() * element_size(node->dtype);
    bytes += size;
    table.rows.push_back({std::to_string(step++), node->is_leaf() ? "variable" : node->op,
                          text_of(node->shape), axes_of(node->shape, o), std::to_string(size)});
  }
  Section section;
  section.id = "shapes";
  section.title = "Every shape of a forward pass";
  section.claim =
      "Shape bugs are the first cause of broken transformers. This is what really ran: the graph "
      "that the forward pass recorded, in order, with the meaning of every axis.";
  section.facts = {"B " + std::to_string(o.B) + ", T " + std::to_string(o.T) + ", D " +
                       std::to_string(o.D) + ", H " + std::to_string(o.H) + ", d_k " +
                       std::to_string(o.D / o.H),
                   "bytes of all results, views counted as if copied: " + std::to_string(bytes)};
  section.tables = {table};
  section.source = "attention/SHAPES.md; attention/multi_head.cpp, MultiHeadAttention::run";
  section.command = command;
  return section;
}

void add_shapes(Program& program) {
  struct Options {
    ShapesOptions shapes;
    bool quiz = false;
    std::string csv;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command =
      add_command(program, "shapes", "Every tensor's shape in a forward pass; --quiz asks for them",
                  [options](Program& p) {
                    if (options->quiz) {
                      shapes_section(options->shapes, "");  // refuses bad sizes
                      return quiz(p, options->shapes, std::cin);
                    }
                    const Section section = shapes_section(options->shapes, p.command_line);
                    if (!options->csv.empty()) {
                      write_table(section.tables[0], options->csv);
                    }
                    print_section(p.out, section);
                    return 0;
                  });
  command.number("-B", options->shapes.B, "Batch", 1);
  command.number("-T", options->shapes.T, "Time", 1);
  command.number("-D", options->shapes.D, "Model width", 1);
  command.number("-H", options->shapes.H, "Heads", 1);
  command.flag("--quiz", options->quiz, "Hide the shapes and ask for them");
  command.text("--csv", options->csv, "The table as CSV");
}

}  // namespace lookback::tools
