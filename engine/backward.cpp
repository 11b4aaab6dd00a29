#include "engine/backward.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "engine/error.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

thread_local bool recording = true;
thread_local bool anomaly_checks = false;

// A node that waits for its turn, with the sum of the gradients that have reached it.
struct Pending {
  std::shared_ptr<Node> node;
  Tensor gradient;
};

// The newest node is first: all its consumers, being newer still, have been swept before it.
using Agenda = std::map<uint64_t, Pending, std::greater<>>;

// Throws std::runtime_error "[anomaly] where... value" unless all elements are finite.
template <class... Where>
void check_finite(const Tensor& gradient, const Where&... where) {
  for (const double value : gradient.to_vector<double>()) {
    if (!std::isfinite(value)) detail::fail<std::runtime_error>("anomaly", where..., value);
  }
}

void add_to(Agenda& agenda, const std::shared_ptr<Node>& node, const Tensor& gradient,
            const char* op) {
  check(gradient.shape() == node->shape && gradient.dtype() == node->dtype, op,
        "backward gave a gradient of shape ", gradient.shape(), " ", gradient.dtype(),
        " for an input of shape ", node->shape, " ", node->dtype);
  Pending& pending = agenda[node->sequence];
  pending.node = node;
  if (!pending.gradient.defined()) {
    pending.gradient = gradient;
    return;
  }
  pending.gradient = pending.gradient + gradient;
  if (anomaly_checks) {
    check_finite(pending.gradient, "the sum of the gradients that reach the result of ", node->op,
                 ", the last of them from ", op, ", contains ");
  }
}

void check_finite(const Gradients& gradients, const Node& node) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || node.parents[i] == nullptr) continue;
    check_finite(gradients[i], "backward of ", node.op, ": the gradient of input ", i, " of shape ",
                 gradients[i].shape(), " contains ");
  }
}

// Calls a node's closure; whatever it throws names the op.
Gradients run_closure(const Node& node, const Tensor& dy) {
  check(node.backward != nullptr, "backward", "the graph was freed by an earlier backward at ",
        node.op, "; pass retain_graph = true to the first one to go through it twice");
  try {
    Gradients gradients = node.backward(dy);
    check(gradients.size() == node.parents.size(), node.op, "backward gave ", gradients.size(),
          " gradients for ", node.parents.size(), " inputs");
    if (anomaly_checks) check_finite(gradients, node);
    return gradients;
  } catch (const std::invalid_argument& error) {
    detail::fail<std::invalid_argument>("backward", node.op, ": ", error.what());
  }
}

Tensor seed_for(const Tensor& y, const Tensor& seed, GradOptions options) {
  check(y.requires_grad(), "backward", "this tensor of shape ", y.shape(),
        " does not require a gradient: nothing was recorded");
  if (seed.defined()) {
    check(seed.shape() == y.shape() && seed.dtype() == y.dtype(), "backward",
          "the seed must have the shape and dtype of the output; got ", seed.shape(), " ",
          seed.dtype(), " and ", y.shape(), " ", y.dtype());
    if (anomaly_checks) check_finite(seed, "the seed contains ");
    return options.create_graph ? seed : seed.detach();
  }
  check(y.numel() == 1, "backward", "only a one-element output may omit the seed; got shape ",
        y.shape());
  return ones(y.shape(), y.dtype());
}

// The sweep. Knows no op: it hands each node, newest first, the sum of its gradients, and passes
// on what the node's closure makes of it. visit(node, gradient) sees every node on the way, down
// to the one with the sequence number `oldest`.
template <class Visit>
void sweep(const Tensor& y, const Tensor& seed, GradOptions options, uint64_t oldest,
           const Visit& visit) {
  Agenda agenda;
  add_to(agenda, y.node(), seed_for(y, seed, options), "backward");
  const RecordingGuard scope(options.create_graph);
  while (!agenda.empty() && agenda.begin()->first >= oldest) {
    const Pending next = std::move(agenda.begin()->second);
    agenda.erase(agenda.begin());
    visit(next.node, next.gradient);
    if (next.node->is_leaf() || next.node->sequence == oldest) continue;

    const Gradients gradients = run_closure(*next.node, next.gradient);
    for (size_t i = 0; i < gradients.size(); ++i) {
      const std::shared_ptr<Node>& parent = next.node->parents[i];
      if (parent && gradients[i].defined()) add_to(agenda, parent, gradients[i], next.node->op);
    }
    if (!options.retain_graph && !options.create_graph) next.node->backward = nullptr;
  }
}

// The one place that writes .grad(): when all sums are there, so that nothing can fail half way.
// An earlier gradient is replaced, never changed: somebody may hold it. For the same reason a new
// one is copied, unless nobody can.
void accumulate_grad(std::vector<Pending>& leaves) {
  for (auto& [leaf, gradient] : leaves) {
    if (leaf->grad.defined()) {
      gradient = leaf->grad + gradient;
    } else if (!gradient.is_unshared() || !gradient.is_contiguous()) {
      gradient = gradient.clone();
    }
  }
  for (auto& [leaf, gradient] : leaves) leaf->grad = std::move(gradient);
}

}  // namespace

std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& inputs, const Tensor& seed,
                         GradOptions options) {
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i].requires_grad(), "grad", "input ", i, " of shape ", inputs[i].shape(),
          " does not require a gradient");
    oldest = std::min(oldest, inputs[i].node()->sequence);
  }
  std::vector<Tensor> result(inputs.size());
  sweep(y, seed, options, oldest, [&](const std::shared_ptr<Node>& node, const Tensor& gradient) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].node() == node) result[i] = gradient;
    }
  });
  return result;
}

void backward(const Tensor& y, const Tensor& seed, GradOptions options) {
  std::vector<Pending> leaves;
  sweep(y, seed, options, 0, [&](const std::shared_ptr<Node>& node, const Tensor& gradient) {
    if (node->is_leaf()) leaves.push_back({node, gradient});
  });
  const RecordingGuard scope(options.create_graph);
  accumulate_grad(leaves);
}

Tensor reduce_to_shape(const Tensor& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  const int64_t extra = gradient.dim() - shape.rank();
  Dims repeated;
  for (int64_t d = 0; d < gradient.dim(); ++d) {
    if (d < extra || (shape[d - extra] == 1 && gradient.size(d) != 1)) repeated.push_back(d);
  }
  return reshape(sum(gradient, repeated, true), shape);
}

bool grad_enabled() { return recording; }

RecordingGuard::RecordingGuard(bool record) : previous_(recording) { recording = record; }
RecordingGuard::~RecordingGuard() { recording = previous_; }
AnomalyGuard::AnomalyGuard() : previous_(anomaly_checks) { anomaly_checks = true; }
AnomalyGuard::~AnomalyGuard() { anomaly_checks = previous_; }

}  // namespace lookback
