// lookback graph: the recorded graph of a head, as Graphviz text and, where Graphviz is, a picture.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "attention/head.h"
#include "engine/backward.h"
#include "engine/graph_dot.h"
#include "engine/node.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/graph_names.h"
#include "tools/commands/section_command.h"
#include "tools/commands/sections.h"
#include "tools/plot/axis.h"
#include "tools/plot/csv.h"
#include "tools/report/graphviz.h"
#include "tools/text/files.h"
#include "tools/text/html.h"
#include "tools/text/sources.h"

namespace lookback::tools {
namespace {

// Widths that no default T equals, so that shapes tell axes apart.
constexpr int64_t kModelWidth = 6;
constexpr int64_t kNarrowHead = 3;
constexpr const char* kTitle = "The graph that backward walks";

struct GraphOptions {
  uint64_t seed = 1;
  int64_t T = 4;
};

// A node of the graph after backward.
struct Drawn {
  std::shared_ptr<Node> node;
  std::string name;  // the op, or what a variable is called
  std::string shape;
  double gradient_norm;
};

// The drawing and the page's table give the same digits; files have them all.
std::string shown(double gradient_norm) { return plot::format_number(gradient_norm, 5); }

double norm(const Tensor& x) {
  const NoGradGuard no_grad;
  const Tensor wide = to(x.detach(), DType::f64);
  return std::sqrt(sum(wide * wide).item<double>());
}

// The graph of sum(head(x)) and the gradient of the sum at every node, results of ops included.
std::vector<Drawn> head_graph(const GraphOptions& o) {
  Generator generator(o.seed);
  attention::Head head(kModelWidth, kNarrowHead, o.T, generator, {.fused = false});
  const Tensor x = randn({1, o.T, kModelWidth}, generator).set_requires_grad(true);
  const Tensor loss = sum(head.forward(x));
  const std::map<const Node*, std::string> names = variable_names(x, head);
  const std::vector<std::shared_ptr<Node>> nodes = graph_nodes(loss);
  std::vector<Tensor> results;  // stand for the ops' results, of which backward needs no numbers
  for (const auto& node : nodes) {
    results.push_back(detail::with_node(zeros(node->shape, node->dtype), node));
  }
  const std::vector<Tensor> gradients = grad(loss, results);
  std::vector<Drawn> drawn;
  for (size_t i = 0; i < nodes.size(); ++i) {
    drawn.push_back({nodes[i], nodes[i]->is_leaf() ? names.at(nodes[i].get()) : nodes[i]->op,
                     text_of(nodes[i]->shape), norm(gradients[i])});
  }
  return drawn;
}

std::string size_text(const GraphOptions& o) {
  return "x (1, " + std::to_string(o.T) + ", " + std::to_string(kModelWidth) + "), head of width " +
         std::to_string(kNarrowHead) + ", composed path, seed " + std::to_string(o.seed);
}

// The place of each node in the graph.
std::map<const Node*, size_t> numbered(const std::vector<Drawn>& graph) {
  std::map<const Node*, size_t> numbers;
  for (size_t i = 0; i < graph.size(); ++i) numbers[graph[i].node.get()] = i;
  return numbers;
}

std::string dot_text(const std::vector<Drawn>& graph, const GraphOptions& o,
                     const std::string& command) {
  const std::map<const Node*, size_t> numbers = numbered(graph);
  std::ostringstream out;
  out << "digraph lookback {\n"
         "  graph [nodesep=0.25, ranksep=0.3, pad=0.2, fontname=\"DejaVu Sans,sans-serif\", "
         "labelloc=t, fontcolor=\"#1f2933\",\n    label=<<b>"
      << kTitle
      << "</b><br/><font point-size=\"11\">sum(head(x)): " << text::html_escaped(size_text(o))
      << "</font><br/><font point-size=\"9\" color=\"#5f6b7a\">made by: "
      << text::html_escaped(command)
      << "</font><br/> >];\n"
         "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3f8\", color=\"#5f6b7a\", "
         "fontcolor=\"#1f2933\", fontname=\"DejaVu Sans,sans-serif\", fontsize=12];\n"
         "  edge [color=\"#5f6b7a\", arrowsize=0.7];\n";
  for (size_t i = 0; i < graph.size(); ++i) {
    const Drawn& d = graph[i];
    out << "  n" << i << " [label=\"" << d.name << "\\n"
        << d.shape << "\\n|grad| = " << shown(d.gradient_norm) << "\""
        << (d.node->is_leaf() ? ", shape=ellipse, fillcolor=\"#fdf0c4\"" : "") << "];\n";
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    for (const auto& parent : graph[i].node->parents) {
      if (parent) out << "  n" << numbers.at(parent.get()) << " -> n" << i << ";\n";
    }
  }
  out << "}\n";
  return out.str();
}

Table node_table(const std::vector<Drawn>& graph, const std::string& name,
                 std::string (*digits)(double)) {
  const std::map<const Node*, size_t> numbers = numbered(graph);
  Table table;
  table.name = name;
  table.title = "The nodes, in the order in which they were recorded; norms after backward";
  table.header = {"node", "op", "shape", "made from", "norm of the gradient"};
  for (size_t i = 0; i < graph.size(); ++i) {
    std::string from;
    for (const auto& parent : graph[i].node->parents) {
      from += from.empty() ? "" : ", ";
      from += parent ? std::to_string(numbers.at(parent.get())) : "a constant";
    }
    table.rows.push_back({std::to_string(i), graph[i].name, graph[i].shape,
                          graph[i].node->is_leaf() ? "a variable" : from,
                          digits(graph[i].gradient_norm)});
  }
  return table;
}

struct Output {
  std::string picture;
  std::string csv;
};

// `dot` as the file's ending says: itself, or drawn.
std::string picture(const std::string& path, const std::string& dot) {
  const std::string extension = ending_of(path);
  if (extension != ".png" && extension != ".svg") return dot;
  const std::optional<std::string> drawn = graphviz(dot, extension.substr(1));
  if (drawn) return *drawn;
  throw std::runtime_error("cannot draw '" + path +
                           "': Graphviz's dot is missing or failed; --out graph.dot needs none");
}

int run_graph(Program& program, const GraphOptions& o, const Output& output) {
  const std::vector<Drawn> graph = head_graph(o);
  const std::string dot = dot_text(graph, o, program.command_line);
  text::StagedFiles files;
  add_table(files, node_table(graph, "nodes", plot::exact), output.csv);
  if (!output.picture.empty()) files.add(output.picture, picture(output.picture, dot));
  files.publish();
  if (output.picture.empty()) program.out << dot;
  return 0;
}

}  // namespace

Section graph_section(uint64_t seed, const std::string& command) {
  GraphOptions options;
  options.seed = seed;
  const std::vector<Drawn> graph = head_graph(options);
  int64_t variables = 0;
  int64_t children = 0;  // of x
  const auto x =
      std::find_if(graph.begin(), graph.end(), [](const Drawn& d) { return d.name == "x"; });
  for (const Drawn& d : graph) {
    variables += d.node->is_leaf() ? 1 : 0;
    children += std::count(d.node->parents.begin(), d.node->parents.end(), x->node);
  }
  const int64_t ops = static_cast<int64_t>(graph.size()) - variables;
  Drawing drawing;
  drawing.name = "graph";
  drawing.caption =
      "What backward walks, from the sum at the bottom up: boxes are ops, ellipses variables, each "
      "with the norm of the sum's gradient there. x has " +
      std::to_string(children) + " children; its gradient is the sum of what they send.";
  drawing.dot = dot_text(graph, options, command);
  drawing.svg = graphviz(drawing.dot, "svg").value_or("");
  Section section;
  section.id = "graph";
  section.title = kTitle;
  section.claim =
      "A forward pass leaves a graph behind: each op remembers its inputs and how to turn the "
      "gradient of its result into theirs. This is the graph of sum(head(x)), as it was recorded.";
  section.drawings = {drawing};
  section.facts = {
      {size_text(options) + ": " + std::to_string(ops) + " ops and " + std::to_string(variables) +
           " variables",
       {{"ops", static_cast<double>(ops)}, {"variables", static_cast<double>(variables)}}}};
  section.tables = {node_table(graph, "nodes", shown)};
  section.data = {node_table(graph, "nodes-exact", plot::exact)};
  section.source = text::definition_at("engine/node.h", "Node") + "; " +
                   text::definition_at("engine/backward.cpp", "sweep");
  section.command = command;
  return section;
}

void add_graph(Program& program) {
  struct Options {
    GraphOptions graph;
    Output output;
  };
  const auto options = std::make_shared<Options>();
  CommandLine command =
      add_command(program, "graph", "The recorded graph of a head (Graphviz)",
                  [options](Program& p) { return run_graph(p, options->graph, options->output); });
  add_seed_option(command, options->graph.seed);
  command.number("-T", options->graph.T, "Tokens", {1, kMaxContext});
  command.output("--out", options->output.picture,
                 "graph.dot, or graph.png or graph.svg where Graphviz is installed; default: "
                 "the DOT text to standard output",
                 {".dot", ".gv", ".txt", ".png", ".svg"});
  command.output("--csv", options->output.csv, "The nodes and the norms of their gradients",
                 kCsvNames);
}

}  // namespace lookback::tools
