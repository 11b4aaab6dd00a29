// Layer normalization, vectorised. All sums run in the fixed order of lane_sum.h.
//
//   for each row
//     mean = sum of x[k] / n
//     variance = sum of (x[k] - mean)^2 / n
//     y[k] = (x[k] - mean) rstd weight[k] + bias[k]
//
//   backward, for each row: two sums over k, then dx[k] = (g[k] - mean(g) - h[k] mean(g h)) rstd
//   backward of the parameters, for each block of rows and each k: add up the rows of the block;
//   then for each k: add up the blocks
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/layer_norm.cpp"
#include <hwy/foreach_target.h>
// The order matters: foreach_target.h comes first.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/kernels/layer_norm.h"
#include "engine/kernels/threads.h"
#include "engine/kernels/vector_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lookback::kernels::HWY_NAMESPACE {

template <class T>
void LayerNorm(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double eps,
               T* y, T* mean, T* rstd) {
  const Tag<T> d;
  const T count = static_cast<T>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T center = LaneSum<T>(n, [=](auto at) HWY_ATTR { return at.Load(x); }) / count;
    const auto all_center = hn::Set(d, center);
    const T squares = LaneSum<T>(n, [=](auto at) HWY_ATTR {
      const auto deviation = hn::Sub(at.Load(x), all_center);
      return hn::Mul(deviation, deviation);
    });
    const T scale = T{1} / std::sqrt(squares / count + static_cast<T>(eps));
    const auto all_scale = hn::Set(d, scale);
    const auto h = [=](auto at)
                       HWY_ATTR { return hn::Mul(hn::Sub(at.Load(x), all_center), all_scale); };
    if (weight != nullptr && bias != nullptr) {
      EachVector<T>(n, [=](auto at) HWY_ATTR {
        at.Store(hn::Add(hn::Mul(h(at), at.Load(weight)), at.Load(bias)), y);
      });
    } else {
      EachVector<T>(n, [=](auto at) HWY_ATTR {
        const auto weighted = weight == nullptr ? h(at) : hn::Mul(h(at), at.Load(weight));
        at.Store(hn::Add(weighted, bias == nullptr ? hn::Zero(d) : at.Load(bias)), y);
      });
    }
    mean[r] = center;
    rstd[r] = scale;
  }
}

// g(at) is dy weight, or dy alone.
template <class T, class Gradient>
HWY_INLINE void LayerNormBackwardRow(int64_t n, const T* x, T mean, T rstd, T* dx, Gradient g) {
  const Tag<T> d;
  const T count = static_cast<T>(n);
  const auto all_mean = hn::Set(d, mean);
  const auto all_rstd = hn::Set(d, rstd);
  const auto h = [=](auto at) HWY_ATTR { return hn::Mul(hn::Sub(at.Load(x), all_mean), all_rstd); };
  const auto g_mean = hn::Set(d, LaneSum<T>(n, g) / count);
  const auto gh = [=](auto at) HWY_ATTR { return hn::Mul(g(at), h(at)); };
  const auto gh_mean = hn::Set(d, LaneSum<T>(n, gh) / count);
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    const auto rest = hn::Sub(hn::Sub(g(at), g_mean), hn::Mul(h(at), gh_mean));
    at.Store(hn::Mul(rest, all_rstd), dx);
  });
}

template <class T>
void LayerNormBackward(int64_t rows, int64_t n, const T* x, const T* weight, const T* mean,
                       const T* rstd, const T* dy, T* dx) {
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n, dx += n) {
    if (weight == nullptr) {
      LayerNormBackwardRow(n, x, mean[r], rstd[r], dx,
                           [=](auto at) HWY_ATTR { return at.Load(dy); });
    } else {
      LayerNormBackwardRow(n, x, mean[r], rstd[r], dx,
                           [=](auto at) HWY_ATTR { return hn::Mul(at.Load(dy), at.Load(weight)); });
    }
  }
}

// One block of rows: dweight and dbias are overwritten.
template <class T>
void LayerNormBlock(int64_t rows, int64_t n, const T* x, const T* mean, const T* rstd, const T* dy,
                    T* dweight, T* dbias) {
  const Tag<T> d;
  std::fill(dweight, dweight + n, T{0});
  std::fill(dbias, dbias + n, T{0});
  for (int64_t r = 0; r < rows; ++r, x += n, dy += n) {
    const auto all_mean = hn::Set(d, mean[r]);
    const auto all_rstd = hn::Set(d, rstd[r]);
    EachVector<T>(n, [=](auto at) HWY_ATTR {
      const auto h = hn::Mul(hn::Sub(at.Load(x), all_mean), all_rstd);
      at.Store(hn::Add(at.Load(dweight), hn::Mul(at.Load(dy), h)), dweight);
      at.Store(hn::Add(at.Load(dbias), at.Load(dy)), dbias);
    });
  }
}

// total[k] = first block[k] + second block[k] + ..., where blocks are `stride` apart.
template <class T>
void AddBlocks(int64_t blocks, int64_t n, const T* block, int64_t stride, T* total) {
  const Tag<T> d;
  EachVector<T>(n, [=](auto at) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (int64_t b = 0; b < blocks; ++b) sum = hn::Add(sum, at.Load(block + b * stride));
    at.Store(sum, total);
  });
}

void LayerNormF32(int64_t rows, int64_t n, const float* x, const float* weight, const float* bias,
                  double eps, float* y, float* mean, float* rstd) {
  LayerNorm(rows, n, x, weight, bias, eps, y, mean, rstd);
}

void LayerNormF64(int64_t rows, int64_t n, const double* x, const double* weight,
                  const double* bias, double eps, double* y, double* mean, double* rstd) {
  LayerNorm(rows, n, x, weight, bias, eps, y, mean, rstd);
}

void LayerNormBackwardF32(int64_t rows, int64_t n, const float* x, const float* weight,
                          const float* mean, const float* rstd, const float* dy, float* dx) {
  LayerNormBackward(rows, n, x, weight, mean, rstd, dy, dx);
}

void LayerNormBackwardF64(int64_t rows, int64_t n, const double* x, const double* weight,
                          const double* mean, const double* rstd, const double* dy, double* dx) {
  LayerNormBackward(rows, n, x, weight, mean, rstd, dy, dx);
}

void LayerNormBlockF32(int64_t rows, int64_t n, const float* x, const float* mean,
                       const float* rstd, const float* dy, float* dweight, float* dbias) {
  LayerNormBlock(rows, n, x, mean, rstd, dy, dweight, dbias);
}

void LayerNormBlockF64(int64_t rows, int64_t n, const double* x, const double* mean,
                       const double* rstd, const double* dy, double* dweight, double* dbias) {
  LayerNormBlock(rows, n, x, mean, rstd, dy, dweight, dbias);
}

void AddBlocksF32(int64_t blocks, int64_t n, const float* block, int64_t stride, float* total) {
  AddBlocks(blocks, n, block, stride, total);
}

void AddBlocksF64(int64_t blocks, int64_t n, const double* block, int64_t stride, double* total) {
  AddBlocks(blocks, n, block, stride, total);
}

}  // namespace lookback::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::kernels {
namespace {

// Rows worth a thread: about 32768 elements.
int64_t grain(int64_t n) { return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, n)); }

HWY_EXPORT(LayerNormF32);
HWY_EXPORT(LayerNormF64);
HWY_EXPORT(LayerNormBackwardF32);
HWY_EXPORT(LayerNormBackwardF64);
HWY_EXPORT(LayerNormBlockF32);
HWY_EXPORT(LayerNormBlockF64);
HWY_EXPORT(AddBlocksF32);
HWY_EXPORT(AddBlocksF64);

template <class T, class Function>
void forward(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double eps, T* y,
             T* mean, T* rstd, Function f) {
  parallel_for(rows, grain(n), [=](int64_t r, int64_t end) {
    f(end - r, n, x + r * n, weight, bias, eps, y + r * n, mean + r, rstd + r);
  });
}

template <class T, class Function>
void backward(int64_t rows, int64_t n, const T* x, const T* weight, const T* mean, const T* rstd,
              const T* dy, T* dx, Function f) {
  parallel_for(rows, grain(n), [=](int64_t r, int64_t end) {
    f(end - r, n, x + r * n, weight, mean + r, rstd + r, dy + r * n, dx + r * n);
  });
}

template <class T, class Block, class Fold>
void parameters(int64_t rows, int64_t n, const T* x, const T* mean, const T* rstd, const T* dy,
                T* dweight, T* dbias, Block block, Fold fold) {
  const int64_t blocks = (rows + kLayerNormRowBlock - 1) / kLayerNormRowBlock;
  std::vector<T> sums(static_cast<size_t>(2 * blocks * n));  // (blocks, 2, n)
  T* const sum = sums.data();
  parallel_for(blocks, grain(kLayerNormRowBlock * n), [=](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t r = b * kLayerNormRowBlock;
      const int64_t size = std::min(kLayerNormRowBlock, rows - r);
      T* const out = sum + b * 2 * n;
      block(size, n, x + r * n, mean + r, rstd + r, dy + r * n, out, out + n);
    }
  });
  if (dweight != nullptr) fold(blocks, n, sum, 2 * n, dweight);
  if (dbias != nullptr) fold(blocks, n, sum + n, 2 * n, dbias);
}

}  // namespace

void layer_norm_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                     const float* bias, double eps, float* y, float* mean, float* rstd) {
  forward(rows, n, x, weight, bias, eps, y, mean, rstd, HWY_DYNAMIC_DISPATCH(LayerNormF32));
}

void layer_norm_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                     const double* bias, double eps, double* y, double* mean, double* rstd) {
  forward(rows, n, x, weight, bias, eps, y, mean, rstd, HWY_DYNAMIC_DISPATCH(LayerNormF64));
}

void layer_norm_backward_rows(int64_t rows, int64_t n, const float* x, const float* weight,
                              const float* mean, const float* rstd, const float* dy, float* dx) {
  backward(rows, n, x, weight, mean, rstd, dy, dx, HWY_DYNAMIC_DISPATCH(LayerNormBackwardF32));
}

void layer_norm_backward_rows(int64_t rows, int64_t n, const double* x, const double* weight,
                              const double* mean, const double* rstd, const double* dy,
                              double* dx) {
  backward(rows, n, x, weight, mean, rstd, dy, dx, HWY_DYNAMIC_DISPATCH(LayerNormBackwardF64));
}

void layer_norm_backward_parameters(int64_t rows, int64_t n, const float* x, const float* mean,
                                    const float* rstd, const float* dy, float* dweight,
                                    float* dbias) {
  parameters(rows, n, x, mean, rstd, dy, dweight, dbias, HWY_DYNAMIC_DISPATCH(LayerNormBlockF32),
             HWY_DYNAMIC_DISPATCH(AddBlocksF32));
}

void layer_norm_backward_parameters(int64_t rows, int64_t n, const double* x, const double* mean,
                                    const double* rstd, const double* dy, double* dweight,
                                    double* dbias) {
  parameters(rows, n, x, mean, rstd, dy, dweight, dbias, HWY_DYNAMIC_DISPATCH(LayerNormBlockF64),
             HWY_DYNAMIC_DISPATCH(AddBlocksF64));
}

}  // namespace lookback::kernels
#endif  // HWY_ONCE
