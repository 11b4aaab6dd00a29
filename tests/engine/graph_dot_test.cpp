// The recorded graph as Graphviz text.
#include "engine/graph_dot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/node.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;
using test::contains_all;
using test::scalar;
using test::variable;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string id(const Tensor& x) {
  return std::string(1, 'n').append(std::to_string(x.node()->sequence));
}

TEST(GraphNodes, AreAllNodesOldestFirst) {
  const Tensor x = scalar(1);
  const Tensor y = exp(x);
  const Tensor z = y * x;
  const auto nodes = graph_nodes(z);
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0], x.node());
  EXPECT_EQ(nodes[1], y.node());
  EXPECT_EQ(nodes[2], z.node());
  EXPECT_TRUE(graph_nodes(constant({1})).empty());
}

TEST(GraphDot, DrawsOpsShapesAndArrows) {
  const Tensor x = variable({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor w = variable({1, 2, 3}, {3, 1});
  const Tensor h = matmul(x, w);
  const Tensor y = sum(h);
  const std::string dot = graph_dot(y);
  EXPECT_TRUE(
      contains_all(dot, {"digraph lookback {", id(x) + " [label=\"leaf\\n[2, 3]\", shape=ellipse]",
                         id(h) + " [label=\"matmul\\n[2, 1]\"]", id(y) + " [label=\"sum\\n[]\"]",
                         id(x) + " -> " + id(h), id(w) + " -> " + id(h), id(h) + " -> " + id(y)}));
  EXPECT_EQ(count(dot, " -> "), 3);
  EXPECT_EQ(dot.substr(dot.size() - 2), "}\n");
}

TEST(GraphDot, ASharedNodeIsDrawnOnceWithAllItsArrows) {
  const Tensor x = scalar(2);
  const Tensor h = x * x;
  const std::string dot = graph_dot(h + h);
  EXPECT_EQ(count(dot, "label="), 3);
  EXPECT_EQ(count(dot, id(x) + " -> " + id(h)), 2);
  EXPECT_EQ(count(dot, " -> "), 4);
}

TEST(GraphDot, LeavesOutConstants) {
  const std::string dot = graph_dot(scalar(2) * constant({3}, {}));
  EXPECT_EQ(count(dot, "label="), 2);
  EXPECT_EQ(count(dot, " -> "), 1);
}

TEST(GraphDot, AConstantIsAGraphOfOneBox) {
  const std::string dot = graph_dot(ones({2, 3}));
  EXPECT_TRUE(contains_all(dot, {"constant", "[2, 3]"}));
  EXPECT_EQ(count(dot, "label="), 1);
}

TEST(GraphDot, ShowsTheNormOfGradients) {
  const Tensor x = variable({3, 4});
  const Tensor y = sum(x * x * 0.5);
  EXPECT_EQ(count(graph_dot(y), "|grad|"), 0);
  y.backward();
  EXPECT_TRUE(contains_all(graph_dot(y), {"|grad| = 5"}));
  EXPECT_EQ(count(graph_dot(y, {.gradient_norms = false}), "|grad|"), 0);
}

// Drawing is reading: nothing is recorded, freed or changed.
TEST(GraphDot, ChangesNothing) {
  const Tensor x = variable({3, 4});
  const Tensor y = sum(x * x);
  const int64_t before = Node::live_count();
  const std::string first = graph_dot(y);
  EXPECT_EQ(graph_dot(y), first);
  EXPECT_EQ(Node::live_count(), before);
  EXPECT_NO_THROW(y.backward());
}

}  // namespace
}  // namespace lookback
