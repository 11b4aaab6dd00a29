// Layer normalisation over the last dimension.
#include "engine/kernels/layer_norm.h"
#include "engine/backward.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

// The derivative in tensor ops, from x alone, so that it can itself be differentiated:
// with n = (x - mean) rstd and dn = dy weight,
//   dx = rstd (dn - mean(dn) - n mean(dn n)),  dweight = sum dy n,  dbias = sum dy
Gradients composed_backward(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
                            const Tensor& dy) {
  const Tensor centred = x - mean(x, -1, true);
  const Tensor rstd = pow(mean(centred * centred, -1, true) + eps, -0.5);
  const Tensor n = centred * rstd;
  const Tensor dn = weight.defined() ? dy * weight : dy;
  const Tensor dx = rstd * (dn - mean(dn, -1, true) - n * mean(dn * n, -1, true));
  const Tensor dweight = weight.defined() ? reduce_to_shape(dy * n, weight.shape()) : Tensor();
  const Tensor dbias = bias.defined() ? reduce_to_shape(dy, bias.shape()) : Tensor();
  return {dx, dweight, dbias};
}

// The same numbers in one pass over rows, from the mean and rstd saved by the forward pass.
Gradients fused_backward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                         const Tensor& mean, const Tensor& rstd, const Tensor& dy) {
  const int64_t rows = mean.numel();
  const int64_t C = x.shape().back();
  const Tensor source = x.contiguous();
  const Tensor incoming = dy.contiguous();
  const Tensor scale = weight.defined() ? weight.contiguous() : Tensor();
  const Tensor dx = x.requires_grad() ? empty(x.shape(), x.dtype()) : Tensor();
  const bool parameters = weight.defined() || bias.defined();
  const Tensor dweight = parameters ? empty({C}, x.dtype()) : Tensor();
  const Tensor dbias = parameters ? empty({C}, x.dtype()) : Tensor();
  visit_float("layer_norm", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (dx.defined()) {
      kernels::layer_norm_backward_rows(rows, C, source.data<T>(),
                                        scale.defined() ? scale.data<T>() : nullptr, mean.data<T>(),
                                        rstd.data<T>(), incoming.data<T>(), dx.data<T>());
    }
    if (parameters) {
      kernels::layer_norm_backward_parameters(rows, C, source.data<T>(), mean.data<T>(),
                                              rstd.data<T>(), incoming.data<T>(), dweight.data<T>(),
                                              dbias.data<T>());
    }
  });
  return {dx, weight.defined() ? dweight : Tensor(), bias.defined() ? dbias : Tensor()};
}

void check_parameter(const Tensor& x, const Tensor& p, const char* which) {
  if (!p.defined()) return;
  check(p.shape() == Shape{x.shape().back()} && p.dtype() == x.dtype(), "layer_norm", "the ", which,
        " must match the last dimension of x; got ", p.shape(), " ", p.dtype(), " and ", x.shape(),
        " ", x.dtype());
}

}  // namespace

// y = (x - mean) / sqrt(var + eps) * weight + bias, var the mean square deviation over the last
// dimension, in two passes (Ba, Kiros and Hinton 2016, eq. 4);  derivative: composed_backward
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x.dim() >= 1, "layer_norm", "needs at least one dimension; got ", x.shape());
  check(eps >= 0, "layer_norm", "eps must not be negative; got ", eps);
  check_parameter(x, weight, "weight");
  check_parameter(x, bias, "bias");
  const int64_t C = x.shape().back();
  Shape row_shape = x.shape();
  row_shape.erase(x.dim() - 1);
  const Tensor source = x.detach().contiguous();
  const Tensor scale = weight.defined() ? weight.detach().contiguous() : Tensor();
  const Tensor shift = bias.defined() ? bias.detach().contiguous() : Tensor();
  const Tensor y = empty(x.shape(), x.dtype());
  const Tensor mean = empty(row_shape, x.dtype());
  const Tensor rstd = empty(row_shape, x.dtype());
  visit_float("layer_norm", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::layer_norm_rows(mean.numel(), C, source.data<T>(),
                             scale.defined() ? scale.data<T>() : nullptr,
                             shift.defined() ? shift.data<T>() : nullptr, static_cast<T>(eps),
                             y.data<T>(), mean.data<T>(), rstd.data<T>());
  });
  return record("layer_norm", y, {x, weight, bias},
                [x = Saved(x), weight = Saved(weight), bias = Saved(bias), mean, rstd,
                 eps](const Tensor& dy) -> Gradients {
                  if (grad_enabled()) return composed_backward(x, weight, bias, eps, dy);
                  return fused_backward(x, weight, bias, mean, rstd, dy);
                });
}

}  // namespace lookback
