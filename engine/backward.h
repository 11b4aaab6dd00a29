// The reverse sweep: gradients of a recorded result with respect to what it was made from.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace lookback {

struct GradOptions {
  bool retain_graph = false;  // keep the graph for another sweep
  bool create_graph = false;  // record the sweep itself: gradients of gradients; retains as well
};

// dL/dx for every x in `inputs`, where L = sum(seed * y); undefined for an x that y does not
// depend on. Touches no .grad(). `seed` has y's shape; only a one-element y may omit it. What lies
// before the oldest input is neither run nor freed: h = f(x), y = g(h) may be swept in two steps.
// Throws std::invalid_argument if y is a constant, an input does not require a gradient, the seed
// does not fit, a saved tensor was changed, or the graph was freed by an earlier sweep.
std::vector<Tensor> grad(const Tensor& y, const std::vector<Tensor>& inputs,
                         const Tensor& seed = {}, GradOptions options = {});

// Accumulates dL/dx into .grad() of every leaf x under y: a second call adds to the first. If it
// throws, no .grad() has changed, but what was swept until then is freed. With create_graph a
// .grad() owns the graph it came from, and so its own leaf: zero_grad() ends that circle.
void backward(const Tensor& y, const Tensor& seed = {}, GradOptions options = {});

// While one lives, this thread records, even inside a NoGradGuard: for a derivative that is taken
// in the middle of something that is not recorded itself. Restores the previous state, also on
// exceptions.
class RecordingGuard {
 public:
  explicit RecordingGuard(bool record = true);
  ~RecordingGuard();
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  bool previous_;
};

// While one lives, this thread records nothing.
class NoGradGuard : public RecordingGuard {
 public:
  NoGradGuard() : RecordingGuard(false) {}
};

// While one lives, sweeps on this thread check every gradient and throw std::runtime_error that
// names the op whose backward first produced a NaN or an infinity.
class AnomalyGuard {
 public:
  AnomalyGuard();
  ~AnomalyGuard();
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;

 private:
  bool previous_;
};

// Sums a gradient over the dimensions along which an input of this shape was broadcast.
Tensor reduce_to_shape(const Tensor& gradient, const Shape& shape);

}  // namespace lookback
