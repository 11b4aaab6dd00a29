// lookback graph: the recorded graph of a head, as Graphviz text and, where Graphviz is, a picture.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>

#include "attention/head.h"
#include "engine/graph_dot.h"
#include "engine/ops.h"
#include "tools/commands/commands.h"
#include "tools/commands/options.h"
#include "tools/program.h"
#include "tools/text/files.h"

namespace lookback::tools {
namespace {

struct GraphOptions {
  uint64_t seed = 1;
  int64_t T = 4;
  std::string out;
};

// The graph of sum(head(x)), after backward: leaves carry the norms of their gradients.
std::string head_graph(const GraphOptions& o) {
  Generator generator(o.seed);
  attention::Head head(8, 4, o.T, generator, {.fused = false});
  const Tensor x = randn({1, o.T, 8}, generator).set_requires_grad(true);
  const Tensor loss = sum(head.forward(x));
  loss.backward({}, true);
  return graph_dot(loss);
}

std::string quoted(const std::string& path) {
  std::string text = "'";
  for (const char c : path) {
    if (c == '\'') text += "'\\'";
    text += c;
  }
  text += '\'';
  return text;
}

// Lets Graphviz draw it. Throws std::runtime_error if it is missing or fails.
void render(const std::string& dot, const std::string& path, const std::string& format) {
  text::check_writable(path);
  const std::string source = path + ".dot.tmp";
  const std::string picture = path + ".tmp";
  text::write_file(source, dot);
  const int status = std::system(
      ("dot -T" + format + " " + quoted(source) + " -o " + quoted(picture) + " 2>/dev/null")
          .c_str());
  std::filesystem::remove(source);
  if (status != 0) {
    std::filesystem::remove(picture);
    throw std::runtime_error("cannot draw '" + path +
                             "': Graphviz's dot is missing or failed; --out graph.dot needs none");
  }
  std::filesystem::rename(picture, path);
}

int run_graph(Program& program, const GraphOptions& o) {
  const std::string dot = head_graph(o);
  if (o.out.empty()) {
    program.out << dot;
    return 0;
  }
  const std::string extension = std::filesystem::path(o.out).extension();
  if (extension == ".png" || extension == ".svg") {
    render(dot, o.out, extension.substr(1));
  } else {
    text::write_file(o.out, dot);
  }
  return 0;
}

}  // namespace

void add_graph(Program& program) {
  const auto options = std::make_shared<GraphOptions>();
  CommandLine command = add_command(program, "graph", "The recorded graph of a head (Graphviz)",
                                    [options](Program& p) { return run_graph(p, *options); });
  add_seed_option(command, options->seed);
  command.number("-T", options->T, "Tokens", 1);
  command.text("--out", options->out,
               "graph.dot, or graph.png or graph.svg where Graphviz is installed; default: "
               "the DOT text to standard output");
}

}  // namespace lookback::tools
