// Node: one recorded op. This is the whole autograd graph: a tensor points to the node that made
// it, a node points to the nodes of its inputs, and its closure turns dL/dy into dL/dx.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/tensor.h"

namespace lookback {

// One gradient per input of an op, in order; undefined: no gradient flows to this input.
using Gradients = std::vector<Tensor>;

struct Node : std::enable_shared_from_this<Node> {
  const char* op;                                       // "matmul"; "leaf" for a variable
  std::vector<std::shared_ptr<Node>> parents;           // of the inputs, in order; null: constant
  std::function<Gradients(const Tensor& dy)> backward;  // null: a leaf, or freed after use
  uint64_t sequence;                                    // a child's is larger than its parents'
  Shape shape;                                          // of the output, and so of dy
  DType dtype;
  Tensor grad;  // leaves only: what .grad() returns

  Node(const char* op_name, const Tensor& output);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  bool is_leaf() const { return parents.empty(); }
  static int64_t live_count();  // nodes that exist now, in all threads
};

// True while ops are recorded on this thread; false under NoGradGuard (backward.h).
bool grad_enabled();

// A tensor kept for backward. Reading it after its storage was changed in place throws
// std::invalid_argument, since the gradient would silently be wrong.
class Saved {
 public:
  explicit Saved(const Tensor& x) : tensor_(x), version_(x.defined() ? x.version() : 0) {}
  const Tensor& get() const;
  operator const Tensor&() const { return get(); }  // NOLINT: a Saved reads as its tensor
  bool requires_grad() const { return tensor_.defined() && tensor_.requires_grad(); }

 private:
  Tensor tensor_;
  uint64_t version_;
};

namespace detail {
std::shared_ptr<Node> new_node(const char* op, const Tensor& output, size_t inputs);
Tensor with_node(const Tensor& x, std::shared_ptr<Node> node);
}  // namespace detail

// The inputs of an op, as {a, b}: no handle is copied.
class Input {
 public:
  Input(const Tensor& x) : x_(x) {}              // NOLINT(google-explicit-constructor)
  operator const Tensor&() const { return x_; }  // NOLINT(google-explicit-constructor)

 private:
  const Tensor& x_;
};
using Inputs = std::initializer_list<Input>;

// Ends an op: returns `output`, recorded as made from `inputs` if any of them requires a
// gradient and recording is on. `backward` is called as backward(dy), or, when the derivative is
// best written with the op's own result, as backward(dy, y); then the node saves y for it.
template <class InputList, class Backward>
Tensor record_inputs(const char* op, const Tensor& output, const InputList& inputs,
                     Backward&& backward) {
  if (!grad_enabled()) return output;
  const auto needs_gradient = [](const Tensor& x) { return x.defined() && x.requires_grad(); };
  if (std::none_of(inputs.begin(), inputs.end(), needs_gradient)) return output;
  const std::shared_ptr<Node> node = detail::new_node(op, output, inputs.size());
  for (const Tensor& x : inputs) node->parents.push_back(x.defined() ? x.node() : nullptr);
  if constexpr (std::is_invocable_v<Backward, const Tensor&>) {
    node->backward = std::forward<Backward>(backward);
  } else {
    // The saved y must not own its node, which owns it; the sweep owns the node while this runs.
    node->backward = [backward = std::forward<Backward>(backward), y = Saved(output.detach()),
                      self = node.get()](const Tensor& dy) -> Gradients {
      return backward(dy, detail::with_node(y, self->shared_from_this()));
    };
  }
  output.impl().node = node;
  return output;
}

template <class Backward>
Tensor record(const char* op, const Tensor& output, Inputs inputs, Backward&& backward) {
  return record_inputs(op, output, inputs, std::forward<Backward>(backward));
}

template <class Backward>
Tensor record(const char* op, const Tensor& output, std::span<const Tensor> inputs,
              Backward&& backward) {
  return record_inputs(op, output, inputs, std::forward<Backward>(backward));
}

}  // namespace lookback
