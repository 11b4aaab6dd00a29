// lookback shapes: a traced forward pass, every tensor with its shape; and a quiz on them.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "attention/multi_head.h"
#include "engine/graph_dot.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "engine/storage.h"
#include "tools/commands/commands.h"
#include "tools/commands/graph_names.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/commands/shapes_reader.h"
#include "tools/program.h"
#include "tools/report/page.h"
#include "tools/text/files.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

// Of one result: 256 MiB of float32.
constexpr int64_t kMostNumbers = int64_t{1} << 26;

// A variable or a recorded op of the forward pass.
struct Step {
  std::string op;
  Shape shape;
  std::string axes;     // "(B, T, D)"
  std::string meaning;  // what it is, in words
  std::string source;   // "attention/multi_head.cpp:105"
  int64_t bytes;        // of the result
  int64_t kept;         // for backward, measured
};

struct Traced {
  std::unique_ptr<attention::MultiHeadAttention> layer;
  Tensor x;
  Tensor output;
  std::vector<std::shared_ptr<Node>> nodes;  // in the order in which they were recorded
};

Traced trace(const ShapesOptions& o, bool fused) {
  Generator generator(1);
  Traced t;
  t.layer = std::make_unique<attention::MultiHeadAttention>(
      attention::MultiHeadAttentionOptions{
          .d_model = o.D, .num_heads = o.H, .bias = false, .fused = fused},
      generator);
  t.x = randn({o.B, o.T, o.D}, generator).set_requires_grad(true);
  t.output = t.layer->forward(t.x);
  t.nodes = graph_nodes(t.output);
  return t;
}

// Bytes that each op keeps alive for backward, beyond the inputs, the parameters and the output:
// what the allocator gets back when the ops are freed in the order of backward, the last first.
// What two ops keep counts for the earlier one. The graph is of no use afterwards.
std::vector<int64_t> kept_bytes(const Traced& t) {
  std::vector<int64_t> kept(t.nodes.size());
  for (size_t i = kept.size(); i-- > 0;) {
    const int64_t before = allocator_statistics().bytes_in_use;
    t.nodes[i]->backward = nullptr;
    kept[i] = before - allocator_statistics().bytes_in_use;
  }
  return kept;
}

// Line by line what attention/SHAPES.md says of the ops that ran.
std::vector<Step> steps_of(const ShapesOptions& o) {
  const Traced t = trace(o, false);
  const std::map<const Node*, std::string> names = variable_names(t.x, *t.layer);
  const std::vector<int64_t> kept = kept_bytes(t);
  ShapesReader reader("MultiHeadAttention");
  std::vector<Step> steps;
  for (size_t i = 0; i < t.nodes.size(); ++i) {
    const Node& node = *t.nodes[i];
    const int64_t bytes = node.shape.numel() * element_size(node.dtype);
    if (node.is_leaf()) {
      const std::string name = names.at(&node);
      steps.push_back({name, node.shape, reader.input_axes(name), "a variable", "", bytes, 0});
      continue;
    }
    const ShapesReader::Op op = reader.next(node.op);
    steps.push_back({node.op, node.shape, op.axes, op.meaning, op.source, bytes, kept[i]});
  }
  reader.finish();
  return steps;
}

// Throws UsageError.
void check_sizes(const ShapesOptions& o) {
  if (o.D % o.H != 0) {
    throw UsageError("-H must divide -D; got " + std::to_string(o.H) + " and " +
                     std::to_string(o.D));
  }
  const int64_t most = o.B * o.T * std::max(o.H * o.T, o.D);
  if (most > kMostNumbers) {
    throw UsageError("a result would have " + std::to_string(most) + " numbers, and " +
                     std::to_string(kMostNumbers) + " are the most; got -B " + std::to_string(o.B) +
                     ", -T " + std::to_string(o.T) + ", -D " + std::to_string(o.D) + ", -H " +
                     std::to_string(o.H));
  }
}

int quiz(Program& program, const ShapesOptions& o, std::istream& in) {
  int64_t asked = 0;
  int64_t right = 0;
  program.out << "B " << o.B << ", T " << o.T << ", D " << o.D << ", H " << o.H
              << ". Write each result's shape, like 2, 8, 64. Verify on paper first.\n";
  for (const Step& step : steps_of(o)) {
    if (step.source.empty()) continue;
    program.out << asked + 1 << ". " << step.op << ", " << step.meaning << ": " << std::flush;
    std::string line;
    if (!std::getline(in, line)) {
      program.out << '\n';
      break;
    }
    ++asked;
    std::string digits;
    for (const char c : line) digits += (c >= '0' && c <= '9') || c == '-' ? c : ' ';
    std::istringstream numbers(digits);
    std::vector<int64_t> answer;
    for (int64_t n = 0; numbers >> n;) answer.push_back(n);
    const bool ok = answer == step.shape.to_vector();
    right += ok ? 1 : 0;
    program.out << (ok ? "right" : "no: it is " + text_of(step.shape) + ", " + step.axes) << '\n';
  }
  program.out << right << " of " << asked << " right\n";
  return 0;
}

}  // namespace

Section shapes_section(const ShapesOptions& o, const std::string& command) {
  Table table;
  table.name = "steps";
  table.title =
      "One multi-head forward pass, composed path, no bias; what is kept, as the allocator rounds "
      "it";
  table.header = {"step",   "op",        "shape", "axes", "bytes", "kept for backward",
                  "source", "what it is"};
  int64_t number = 0;
  int64_t bytes = 0;
  int64_t kept = 0;
  for (const Step& step : steps_of(o)) {
    bytes += step.bytes;
    kept += step.kept;
    table.rows.push_back({std::to_string(number++), step.op, text_of(step.shape), step.axes,
                          std::to_string(step.bytes), std::to_string(step.kept), step.source,
                          step.meaning});
  }
  int64_t fused = 0;
  for (const int64_t n : kept_bytes(trace(o, true))) fused += n;
  Section section;
  section.id = "shapes";
  section.title = "Every shape of a forward pass";
  section.claim =
      "This is what really ran: the graph that the forward pass recorded, in order, with the "
      "meaning of every axis and the line of code that did it. What an op keeps for backward was "
      "measured: it is what the allocator gets back when the op is freed, beyond inputs, "
      "parameters and output. The allocator rounds up, to whole blocks of 64 bytes and large sizes "
      "by at most a quarter.";
  section.facts = {"B " + std::to_string(o.B) + ", T " + std::to_string(o.T) + ", D " +
                       std::to_string(o.D) + ", H = H_kv " + std::to_string(o.H) +
                       ", r 1, d_k = d_v " + std::to_string(o.D / o.H),
                   {"bytes of all tensors of the table, parameters and x included, views counted "
                    "as if copied: " +
                        std::to_string(bytes),
                    {{"bytes of all results", static_cast<double>(bytes)}}},
                   {"bytes kept for backward: " + std::to_string(kept) +
                        "; by the fused path: " + std::to_string(fused),
                    {{"bytes kept for backward", static_cast<double>(kept)},
                     {"bytes kept by the fused path", static_cast<double>(fused)}}}};
  section.tables = {table};
  section.source = "attention/SHAPES.md; " +
                   text::definition_at("attention/multi_head.cpp", "MultiHeadAttention::run");
  section.command = command;
  return section;
}

void add_shapes(Program& program) {
  struct Options {
    ShapesOptions shapes;
    bool quiz = false;
    std::string csv;
    std::string html;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command = add_command(
      program, "shapes", "Every tensor's shape in a forward pass; --quiz asks for them",
      [options](Program& p) {
        check_sizes(options->shapes);
        if (options->quiz) return quiz(p, options->shapes, std::cin);
        const Section section = shapes_section(options->shapes, p.command_line);
        text::StagedFiles files;
        add_table(files, section.tables[0], options->csv);
        if (!options->html.empty()) {
          files.add(options->html, page({section.title, section.claim, p.command_line}, {section}));
        }
        files.publish();
        print_section(p.out, section);
        return 0;
      });
  command.number("-B", options->shapes.B, "Batch", {1, 1024});
  command.number("-T", options->shapes.T, "Time", {1, kMaxContext});
  command.number("-D", options->shapes.D, "Model width", {1, 4096});
  command.number("-H", options->shapes.H, "Heads", {1, 4096});
  command.flag("--quiz", options->quiz, "Hide the shapes and ask for them");
  command.output("--csv", options->csv, "The table as CSV", kCsvNames);
  command.output("--out", options->html, "The table as a page (HTML)", kHtmlNames);
  command.exclusive("--quiz", "--csv");
  command.exclusive("--quiz", "--out");
}

}  // namespace lookback::tools
