// AdamW: adaptive moments with decoupled weight decay.
#pragma once

#include <vector>

#include "engine/tensor.h"

namespace lookback::nn {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
};

// (Loshchilov and Hutter 2019, algorithm 2.) With gradient g of a parameter p, at its step t:
//   p -= lr weight_decay p
//   m = beta1 m + (1 - beta1) g         v = beta2 v + (1 - beta2) g^2
//   p -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
class AdamW {
 public:
  explicit AdamW(std::vector<Tensor> parameters, AdamWOptions options = {});

  // Changes every parameter that has a .grad(), in place.
  void step();
  void zero_grad() const;

  AdamWOptions& options() { return options_; }  // the learning rate may follow a schedule

  // What a checkpoint must hold to go on as if nothing had happened, in the order of the
  // parameters: the steps each has taken (fewer for one that had no gradient at first), and the
  // moments.
  const std::vector<int64_t>& steps() const { return steps_; }
  const std::vector<Tensor>& first_moments() const { return first_; }
  const std::vector<Tensor>& second_moments() const { return second_; }
  void set_steps(std::vector<int64_t> steps);

 private:
  std::vector<Tensor> parameters_;
  std::vector<Tensor> first_;
  std::vector<Tensor> second_;
  AdamWOptions options_;
  std::vector<int64_t> steps_;
};

}  // namespace lookback::nn
