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

std::vector<std::shared_ptr<Node>> graph_nodes(const Tensor& y) {
  if (y.node() == nullptr) return {};
  std::map<uint64_t, std::shared_ptr<Node>> seen{{y.node()->sequence, y.node()}};
  std::vector<std::shared_ptr<Node>> waiting{y.node()};
  while (!waiting.empty()) {
    const std::shared_ptr<Node> node = waiting.back();
    waiting.pop_back();
    for (const std::shared_ptr<Node>& parent : node->parents) {
      if (parent && seen.emplace(parent->sequence, parent).second) waiting.push_back(parent);
    }
  }
  std::vector<std::shared_ptr<Node>> nodes;
  for (const auto& [sequence, node] : seen) nodes.push_back(node);
  return nodes;
}

std::string graph_dot(const Tensor& y, GraphDotOptions options) {
  std::ostringstream out;
  out << "digraph lookback {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  if (y.node() == nullptr) {
    out << "  constant [label=\"constant\\n" << y.shape() << "\"];\n}\n";
    return out.str();
  }
  const std::vector<std::shared_ptr<Node>> nodes = graph_nodes(y);
  for (const auto& node : nodes) write_node(out, *node, options);
  for (const auto& node : nodes) {
    for (const auto& parent : node->parents) {
      if (parent) out << "  n" << parent->sequence << " -> n" << node->sequence << ";\n";
    }
  }
  out << "}\n";
  return out.str();
}

}  // namespace lookback
