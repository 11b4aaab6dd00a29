// Distributions along a dimension: softmax, its logarithm, their normaliser, and the loss made
// from them. All subtract the row's maximum first, which changes no value and avoids overflow.
#include "engine/kernels/softmax.h"
#include "engine/backward.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/node.h"
#include "engine/ops.h"

namespace lookback {
namespace {

// Calls kernel(rows, n, x, n, y, n) on the rows along the last dimension of x.
template <class Kernel>
Tensor of_rows(const char* op, const Tensor& x, const Kernel& kernel) {
  const Tensor source = x.detach().contiguous();
  const Tensor y = empty(x.shape(), x.dtype());
  const int64_t n = x.shape().back();
  const int64_t rows = n == 0 ? 0 : x.numel() / n;
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernel(rows, n, source.data<T>(), n, y.data<T>(), n);
  });
  return y;
}

// Calls kernel(rows, n, y, dy, dx) likewise: the fused form of a derivative.
template <class Kernel>
Tensor backward_of_rows(const Tensor& y, const Tensor& dy, const Kernel& kernel) {
  const Tensor saved = y.contiguous();
  const Tensor incoming = dy.contiguous();
  const Tensor dx = empty(y.shape(), y.dtype());
  const int64_t n = y.shape().back();
  const int64_t rows = n == 0 ? 0 : y.numel() / n;
  visit_float("backward", y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernel(rows, n, saved.data<T>(), incoming.data<T>(), dx.data<T>());
  });
  return dx;
}

// The kernels work along the last dimension; another one takes its place and goes back.
template <class Op>
Tensor along_last(const Tensor& x, int64_t d, const Op& op) {
  return transpose(op(transpose(x, d, -1), -1), d, -1);
}

// dx_r = dy / N (softmax(x_r) - onehot(target_r)), from the saved maximum and normaliser of each
// row.
Tensor cross_entropy_backward(const Tensor& logits, const Tensor& target, const Tensor& largest,
                              const Tensor& log_sum, const Tensor& dy) {
  const int64_t N = logits.size(0);
  const int64_t C = logits.size(1);
  if (grad_enabled()) {
    const Tensor onehot = to(unsqueeze(target, 1) == arange(C), dy.dtype());
    return (softmax(logits, 1) - onehot) * (dy / static_cast<double>(N));
  }
  const Tensor x = logits.contiguous();
  const Tensor dx = empty(logits.shape(), dy.dtype());
  visit_float("cross_entropy", dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::cross_entropy_backward_rows(N, C, x.data<T>(), largest.data<T>(), log_sum.data<T>(),
                                         target.data<int64_t>(), dy.item<T>() / static_cast<T>(N),
                                         dx.data<T>());
  });
  return dx;
}

}  // namespace

// y_i = exp(x_i - max x) / sum_j exp(x_j - max x);  dx = y (dy - sum_j y_j dy_j), since
// dy_i/dx_j = y_i (delta_ij - y_j). A row of -infinity alone has no distribution: NaN.
Tensor softmax(const Tensor& x, int64_t dim) {
  if (x.dim() == 0) return squeeze(softmax(unsqueeze(x, 0), dim), 0);
  const int64_t d = resolve_dim("softmax", dim, x.dim());
  if (d != x.dim() - 1) return along_last(x, d, softmax);
  const Tensor result = of_rows("softmax", x, [](auto... a) { kernels::softmax_rows(a...); });
  return record("softmax", result, {x}, [](const Tensor& dy, const Tensor& y) -> Gradients {
    if (grad_enabled()) return {y * (dy - sum(y * dy, -1, true))};
    return {backward_of_rows(y, dy, [](auto... a) { kernels::softmax_backward_rows(a...); })};
  });
}

// y_i = x_i - logsumexp(x);  dx = dy - exp(y) sum_j dy_j
Tensor log_softmax(const Tensor& x, int64_t dim) {
  if (x.dim() == 0) return squeeze(log_softmax(unsqueeze(x, 0), dim), 0);
  const int64_t d = resolve_dim("log_softmax", dim, x.dim());
  if (d != x.dim() - 1) return along_last(x, d, log_softmax);
  const Tensor result =
      of_rows("log_softmax", x, [](auto... a) { kernels::log_softmax_rows(a...); });
  return record("log_softmax", result, {x}, [](const Tensor& dy, const Tensor& y) -> Gradients {
    if (grad_enabled()) return {dy - exp(y) * sum(dy, -1, true)};
    return {backward_of_rows(y, dy, [](auto... a) { kernels::log_softmax_backward_rows(a...); })};
  });
}

// y = max x + log sum_j exp(x_j - max x);  dx = dy softmax(x), which keeps the
// digits that exp(x - y) would lose to the rounding of a large y
Tensor logsumexp(const Tensor& x, int64_t dim, bool keepdim) {
  if (x.dim() == 0) return logsumexp(unsqueeze(x, 0), dim, false);
  const int64_t d = resolve_dim("logsumexp", dim, x.dim());
  if (d != x.dim() - 1) {
    const Tensor result = logsumexp(transpose(x, d, -1), -1, true);
    return keepdim ? transpose(result, d, -1) : squeeze(transpose(result, d, -1), d);
  }
  const Tensor source = x.detach().contiguous();
  Shape shape = x.shape();
  const int64_t n = shape.back();
  shape[d] = 1;
  if (!keepdim) shape.erase(d);
  const Tensor result = empty(shape, x.dtype());
  visit_float("logsumexp", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::logsumexp_rows(result.numel(), n, source.data<T>(), n, result.data<T>());
  });
  return record("logsumexp", result, {x}, [x = Saved(x), keepdim](const Tensor& dy) -> Gradients {
    return {(keepdim ? dy : unsqueeze(dy, -1)) * softmax(x, -1)};
  });
}

// y = mean_r (logsumexp(x_r) - x_r[target_r]);  dx_r = dy / N (softmax(x_r) - onehot(target_r))
Tensor cross_entropy(const Tensor& logits, const Tensor& target) {
  check(logits.dim() == 2 && target.dim() == 1 && logits.size(0) == target.size(0), "cross_entropy",
        "needs logits (N, C) and target (N); got ", logits.shape(), " and ", target.shape());
  check(target.dtype() == DType::i64, "cross_entropy", "the target must be i64; got ",
        target.dtype());
  const int64_t N = logits.size(0);
  const int64_t C = logits.size(1);
  const Tensor x = logits.detach().contiguous();
  const Tensor index = target.contiguous();
  for (int64_t r = 0; r < N; ++r) {
    const int64_t t = index.data<int64_t>()[r];
    check_index(t >= 0 && t < C, "cross_entropy", "target ", t, " at row ", r,
                " is out of range for ", C, " classes");
  }
  const Tensor losses = empty({N}, logits.dtype());
  const Tensor largest = empty({N}, logits.dtype());
  const Tensor log_sum = empty({N}, logits.dtype());
  visit_float("cross_entropy", logits.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::cross_entropy_rows(N, C, x.data<T>(), index.data<int64_t>(), losses.data<T>(),
                                largest.data<T>(), log_sum.data<T>());
  });
  return record("cross_entropy", mean(losses), {logits},
                [logits = Saved(logits), target = Saved(index), largest,
                 log_sum](const Tensor& dy) -> Gradients {
                  return {cross_entropy_backward(logits, target, largest, log_sum, dy)};
                });
}

}  // namespace lookback
