#include "engine/graph_dot.h"

#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

void write_node(std::ostream& out, const Node& node, const GraphDotOptions& options) {
  out << "  n" << node.sequence << " [label=\"" << node.op << "\\n" << node.shape;
  if (options.gradient_norms && node.grad.defined()) {
    const NoGradGuard no_grad;
    const Tensor g = to(node.grad.detach(), DType::f64);
    out << "\\n|grad| = " << std::sqrt(sum(g * g).item<double>());
  }
  out << "\"" << (node.is_leaf() ? ", shape=ellipse" : "") << "];\n";
}

}  // namespace

std::string graph_dot(const Tensor& y, GraphDotOptions options) {
  std::ostringstream out;
  out << "digraph lookback {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  if (y.node() == nullptr) {
    out << "  constant [label=\"constant\\n" << y.shape() << "\"];\n}\n";
    return out.str();
  }
  std::map<uint64_t, const Node*> seen{{y.node()->sequence, y.node().get()}};
  std::vector<const Node*> waiting{y.node().get()};
  while (!waiting.empty()) {
    const Node& node = *waiting.back();
    waiting.pop_back();
    for (const std::shared_ptr<Node>& parent : node.parents) {
      if (parent && seen.emplace(parent->sequence, parent.get()).second) {
        waiting.push_back(parent.get());
      }
    }
  }
  for (const auto& [sequence, node] : seen) write_node(out, *node, options);
  for (const auto& [sequence, node] : seen) {
    for (const std::shared_ptr<Node>& parent : node->parents) {
      if (parent) out << "  n" << parent->sequence << " -> n" << sequence << ";\n";
    }
  }
  out << "}\n";
  return out.str();
}

}  // namespace lookback
