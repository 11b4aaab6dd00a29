// The library against loops over doubles that share no code with it: a scale, a mask or a pairing
// of heads that is wrong everywhere in the same way agrees with itself, but not with these.
#include <algorithm>
#include <cmath>

#include "attention/attention.h"
#include "engine/ops.h"
#include "tests/support/layers.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

struct Matrix {
  int64_t rows;
  int64_t columns;
  std::vector<double> values = std::vector<double>(static_cast<size_t>(rows * columns), 0.0);

  double& at(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  double at(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * columns + j)]; }
};

Matrix read(const Tensor& x) {
  const Tensor wide = to(x.detach(), DType::f64).contiguous();
  Matrix m{x.size(0), x.size(1)};
  std::copy_n(wide.data<double>(), m.values.size(), m.values.begin());
  return m;
}

// Columns first ... first + width - 1: a head of a projection.
Matrix slice(const Matrix& x, int64_t first, int64_t width) {
  Matrix part{x.rows, width};
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < width; ++j) part.at(i, j) = x.at(i, first + j);
  }
  return part;
}

Matrix linear(const Matrix& x, const nn::Linear& layer) {
  const Matrix weight = read(layer.weight);  // (out, in)
  Matrix y{x.rows, weight.rows};
  if (layer.bias.defined()) {
    const Matrix bias = read(unsqueeze(layer.bias, 0));
    for (int64_t i = 0; i < y.rows; ++i) {
      for (int64_t o = 0; o < y.columns; ++o) y.at(i, o) = bias.at(0, o);
    }
  }
  for (int64_t i = 0; i < y.rows; ++i) {
    for (int64_t o = 0; o < y.columns; ++o) {
      for (int64_t c = 0; c < x.columns; ++c) y.at(i, o) += x.at(i, c) * weight.at(o, c);
    }
  }
  return y;
}

// Row i of q attends to key j if j <= i + Tk - Tq, and under a window if it is one of the last W.
Matrix weights_of(const Matrix& q, const Matrix& k, bool causal, int64_t window = 0) {
  Matrix p{q.rows, k.rows};
  for (int64_t i = 0; i < q.rows; ++i) {
    const int64_t last = causal ? i + k.rows - q.rows : k.rows - 1;
    const int64_t first = window > 0 ? std::max<int64_t>(0, last - window + 1) : 0;
    double total = 0;
    for (int64_t j = first; j <= last; ++j) {
      double dot = 0;
      for (int64_t c = 0; c < q.columns; ++c) dot += q.at(i, c) * k.at(j, c);
      p.at(i, j) = std::exp(dot / std::sqrt(static_cast<double>(q.columns)));
      total += p.at(i, j);
    }
    for (int64_t j = first; j <= last; ++j) p.at(i, j) /= total;
  }
  return p;
}

Matrix times(const Matrix& p, const Matrix& v) {
  Matrix y{p.rows, v.columns};
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) {
      for (int64_t c = 0; c < v.columns; ++c) y.at(i, c) += p.at(i, j) * v.at(j, c);
    }
  }
  return y;
}

// Kv head g serves query heads g r ... g r + r - 1.
Matrix multi_head(const attention::MultiHeadAttention& layer, const Matrix& x,
                  const Matrix& context) {
  const attention::MultiHeadAttentionOptions& o = layer.options();
  const int64_t width = o.d_model / o.num_heads;
  const int64_t r = o.num_heads / o.num_kv_heads;
  const Matrix q = linear(x, layer.query);
  const Matrix k = linear(context, layer.key);
  const Matrix v = linear(context, layer.value);
  Matrix merged{x.rows, o.d_model};
  for (int64_t h = 0; h < o.num_heads; ++h) {
    const int64_t g = h / r;
    const Matrix p =
        weights_of(slice(q, h * width, width), slice(k, g * width, width), o.causal, o.window);
    const Matrix head = times(p, slice(v, g * width, width));
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t c = 0; c < width; ++c) merged.at(i, h * width + c) = head.at(i, c);
    }
  }
  return linear(merged, layer.output);
}

struct Path {
  bool fused;
  DType dtype;
};

std::ostream& operator<<(std::ostream& out, const Path& p) {
  return out << (p.fused ? "Fused_" : "Composed_") << p.dtype;
}

class ByHandTest : public testing::TestWithParam<Path> {
 protected:
  attention::MultiHeadAttention layer(attention::MultiHeadAttentionOptions options) const {
    options.fused = GetParam().fused;
    options.dtype = GetParam().dtype;
    Generator generator(3);
    return {options, generator};
  }
  void expect_by_hand(const Tensor& actual, const Matrix& expected, const std::string& what) const {
    const double tolerance = GetParam().dtype == DType::f32 ? 1e-5 : 1e-13;
    EXPECT_TRUE(has_values(actual, {expected.rows, expected.columns}, expected.values, tolerance))
        << what;
  }
  // Each of a batch, so that none can stand for another.
  void expect_cross(const attention::MultiHeadAttention& attention, const Tensor& x,
                    const Tensor& context, const std::string& what) const {
    const Tensor y = attention.forward(x, context);
    const Tensor asked = attention.forward_with_weights(x, context).output;
    for (int64_t b = 0; b < x.size(0); ++b) {
      const Matrix expected =
          multi_head(attention, read(select(x, 0, b)), read(select(context, 0, b)));
      expect_by_hand(select(y, 0, b), expected, what);
      expect_by_hand(select(asked, 0, b), expected, what + ", with weights");
    }
  }
};

TEST_P(ByHandTest, GroupedQueriesOfEverySize) {
  for (const auto& [H, H_kv] : std::vector<std::pair<int64_t, int64_t>>{{1, 1},
                                                                        {2, 1},
                                                                        {4, 2},
                                                                        {6, 2},
                                                                        {6, 3},
                                                                        {8, 1},
                                                                        {8, 2},
                                                                        {8, 4},
                                                                        {8, 8},
                                                                        {10, 2},
                                                                        {12, 3},
                                                                        {16, 2}}) {
    for (const int64_t window : {0, 3}) {
      const auto attention =
          layer({.d_model = 2 * H, .num_heads = H, .num_kv_heads = H_kv, .window = window});
      const Tensor x = normal({2, 9, 2 * H}, GetParam().dtype);
      expect_cross(attention, x, x,
                   "H " + std::to_string(H) + ", H_kv " + std::to_string(H_kv) + ", window " +
                       std::to_string(window));
    }
  }
}

// A context as long as x but of other values: nothing but the numbers tells the two apart.
TEST_P(ByHandTest, CrossAttentionReadsKeysAndValuesFromTheContext) {
  for (const bool causal : {false, true}) {
    const auto attention =
        layer({.d_model = 12, .num_heads = 4, .num_kv_heads = 2, .causal = causal});
    for (const int64_t Tk : {7, 5, 1}) {
      if (causal && Tk < 7) continue;  // queries without a key have tests of their own
      expect_cross(attention, normal({2, 7, 12}, GetParam().dtype, 1),
                   normal({2, Tk, 12}, GetParam().dtype, 2),
                   (causal ? "causal, " : "not causal, ") + std::to_string(Tk) + " keys");
    }
  }
}

// sqrt(d_k) at widths that are no power of two, or stand between those of other tests.
TEST_P(ByHandTest, ScoresAreDividedBySqrtOfTheWidthAtEveryWidth) {
  const DType dtype = GetParam().dtype;
  for (const int64_t d_k : {1, 3, 31, 65, 100, 128, 255}) {
    const std::string what = "d_k " + std::to_string(d_k);
    const Tensor q = normal({5, d_k}, dtype, 1);
    const Tensor k = normal({5, d_k}, dtype, 2);
    const Tensor v = normal({5, 3}, dtype, 3);
    const Matrix p = weights_of(read(q), read(k), false);
    const Matrix y = times(p, read(v));
    const attention::AttentionResult composed = attention::scaled_dot_product_attention(q, k, v);
    expect_by_hand(composed.weights, p, what + ", composed");
    expect_by_hand(composed.output, y, what + ", composed");
    expect_by_hand(attention::fused_attention(q, k, v), y, what + ", fused");
    expect_by_hand(attention::streaming_attention(q, k, v), y, what + ", streaming");

    Generator generator(3);
    attention::Head head(8, d_k, 5, generator, {.fused = GetParam().fused, .dtype = dtype});
    const Tensor x = normal({5, 8}, dtype, 4) * 3.0;
    const Matrix of_head = weights_of(linear(read(x), head.query), linear(read(x), head.key), true);
    expect_by_hand(head.forward(x), times(of_head, linear(read(x), head.value)), what + ", head");
    expect_by_hand(head.weights(), of_head, what + ", weights of a head");
  }
}

TEST_P(ByHandTest, MultiHeadAttentionDividesBySqrtOfTheHeadWidth) {
  for (const int64_t d_k : {65, 100, 128, 255}) {
    const auto attention = layer({.d_model = 2 * d_k, .num_heads = 2, .num_kv_heads = 1});
    const Tensor x = normal({1, 3, 2 * d_k}, GetParam().dtype) * 2.0;
    expect_by_hand(select(attention.forward(x), 0, 0),
                   multi_head(attention, read(select(x, 0, 0)), read(select(x, 0, 0))),
                   "d_k " + std::to_string(d_k));
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, ByHandTest,
                         testing::Values(Path{false, DType::f32}, Path{false, DType::f64},
                                         Path{true, DType::f32}, Path{true, DType::f64}),
                         layer_name<Path>);

}  // namespace
}  // namespace lookback::test
