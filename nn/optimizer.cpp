#include "nn/optimizer.h"

#include <cmath>

#include "engine/backward.h"
#include "engine/kernels/adamw.h"
#include "engine/ops.h"

namespace lookback::nn {

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options)
    : parameters_(std::move(parameters)), options_(options) {
  const auto is_rate = [](double beta) { return beta >= 0 && beta < 1; };
  check(options.lr >= 0 && is_rate(options.beta1) && is_rate(options.beta2) && options.eps >= 0 &&
            options.weight_decay >= 0,
        "adamw", "lr, eps and weight_decay must not be negative, the betas in [0, 1); got lr ",
        options.lr, ", betas ", options.beta1, " and ", options.beta2, ", eps ", options.eps,
        ", weight_decay ", options.weight_decay);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& p = parameters_[i];
    check(p.requires_grad() && p.is_leaf() && p.is_contiguous(), "adamw",
          "parameters must be contiguous variables; got one of shape ", p.shape());
    for (size_t j = 0; j < i; ++j) {
      check(!p.is_same(parameters_[j]), "adamw", "parameter ", i, " is parameter ", j,
            " once more; a step would change it twice");
    }
    first_.push_back(zeros(p.shape(), p.dtype()));
    second_.push_back(zeros(p.shape(), p.dtype()));
  }
  steps_.resize(parameters_.size());
}

void AdamW::step() {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& p = parameters_[i];
    if (!p.grad().defined()) continue;
    const auto t = static_cast<double>(++steps_[i]);
    const double correction1 = 1.0 - std::pow(options_.beta1, t);
    const double correction2 = 1.0 - std::pow(options_.beta2, t);
    const Tensor g = p.grad().detach().contiguous();
    visit_float("adamw", p.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::adamw_step(p.numel(), p.data<T>(), g.data<T>(), first_[i].data<T>(),
                          second_[i].data<T>(), options_.lr, options_.beta1, options_.beta2,
                          options_.eps, options_.weight_decay, correction1, correction2);
    });
    p.impl().storage->bump_version();
  }
}

void AdamW::zero_grad() const {
  for (const Tensor& p : parameters_) p.zero_grad();
}

void AdamW::set_steps(std::vector<int64_t> steps) {
  check(steps.size() == parameters_.size(), "adamw",
        "needs one number of steps per parameter; got ", steps.size(), " for ", parameters_.size());
  for (const int64_t t : steps) check(t >= 0, "adamw", "steps must not be negative; got ", t);
  steps_ = std::move(steps);
}

}  // namespace lookback::nn
