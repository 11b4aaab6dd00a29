// The recorded graph as Graphviz text, for looking at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/tensor.h"

namespace lookback {

struct Node;

// Every node under y, oldest first: the order in which the ops ran.
std::vector<std::shared_ptr<Node>> graph_nodes(const Tensor& y);

struct GraphDotOptions {
  // Also writes the norm of each leaf's .grad(), where backward() has left one.
  bool gradient_norms = true;
};

// A digraph with one box per recorded op (its name and the shape of its result) and one ellipse
// per variable; arrows run from inputs to results. An unrecorded tensor is a graph of one box.
std::string graph_dot(const Tensor& y, GraphDotOptions options = {});

}  // namespace lookback
