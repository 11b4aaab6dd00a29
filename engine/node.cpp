#include "engine/node.h"

#include <atomic>

#include "engine/error.h"

namespace lookback {
namespace {

std::atomic<int64_t> live_nodes{0};
std::atomic<uint64_t> next_sequence{0};

// Drops a reference to a node. The last reference to a long chain would otherwise destroy it
// recursively, node by node, and overflow the stack: nodes met on the way wait in a list.
void drop(std::shared_ptr<Node>&& node) {
  thread_local std::vector<std::shared_ptr<Node>>* waiting = nullptr;
  if (node == nullptr) return;
  if (waiting != nullptr) {
    waiting->push_back(std::move(node));
    return;
  }
  std::vector<std::shared_ptr<Node>> list;
  waiting = &list;
  node.reset();
  while (!list.empty()) {
    const std::shared_ptr<Node> next = std::move(list.back());
    list.pop_back();
  }
  waiting = nullptr;
}

}  // namespace

Node::Node(const char* op_name, const Tensor& output)
    : op(op_name),
      sequence(next_sequence.fetch_add(1, std::memory_order_relaxed)),
      shape(output.shape()),
      dtype(output.dtype()) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  for (std::shared_ptr<Node>& parent : parents) drop(std::move(parent));
}

TensorImpl::~TensorImpl() { drop(std::move(node)); }

int64_t Node::live_count() { return live_nodes.load(std::memory_order_relaxed); }

const Tensor& Saved::get() const {
  if (tensor_.defined() && tensor_.version() != version_) {
    check(false, "saved", "a tensor of shape ", tensor_.shape(),
          " that this gradient needs was changed in place: version ", version_, " was saved, now ",
          tensor_.version());
  }
  return tensor_;
}

namespace detail {

std::shared_ptr<Node> new_node(const char* op, const Tensor& output, size_t inputs) {
  auto node = std::make_shared<Node>(op, output);
  node->parents.reserve(inputs);
  return node;
}

Tensor with_node(const Tensor& x, std::shared_ptr<Node> node) {
  const Tensor alias = x.detach();
  alias.impl().node = std::move(node);
  return alias;
}

}  // namespace detail
}  // namespace lookback
