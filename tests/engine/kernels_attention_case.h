// A set of random arguments for the attention kernels, and how its results are compared. Used by
// the tests of these kernels, kernels_attention_*test.cpp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/attention.h"

namespace lookback::test {

struct Sizes {
  int64_t B, H, G, Tq, Tk, d, dv;
  bool causal = true;
  int64_t window = 0;
  bool masked = false;  // by a random mask, in which some rows and some first blocks are all hidden

  kernels::AttentionShape shape() const {
    return {B, H, G, Tq, Tk, d, dv, 1 / std::sqrt(static_cast<double>(d)), causal, window};
  }
};

inline std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << "B" << s.B << " H" << s.H << " G" << s.G << " Tq" << s.Tq << " Tk" << s.Tk << " d"
             << s.d << " dv" << s.dv << (s.causal ? " causal" : "") << " window " << s.window
             << (s.masked ? " masked" : "");
}

// A (B, H, T, width) array, contiguous.
template <class T>
struct Array {
  int64_t B, H, rows, width;
  std::vector<T> data = std::vector<T>(static_cast<size_t>(B * H * rows * width));

  T* row(int64_t b, int64_t h, int64_t t) { return data.data() + ((b * H + h) * rows + t) * width; }
  kernels::Operand<T> in() const { return {data.data(), H * rows * width, rows * width, width}; }
  kernels::MutableOperand<T> out() { return {data.data(), H * rows * width, rows * width, width}; }
  void randomize(std::mt19937& random) {
    std::normal_distribution<double> normal;
    for (T& x : data) x = static_cast<T>(normal(random));
  }
};

// Elements may differ by `ulps` times the rounding of the largest element; a NaN differs from all.
template <class T>
testing::AssertionResult close(const Array<T>& actual, const Array<T>& expected, double ulps) {
  double largest = 0;
  for (const T x : expected.data) largest = std::max(largest, std::abs(static_cast<double>(x)));
  const double tolerance = ulps * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
  for (size_t n = 0; n < expected.data.size(); ++n) {
    const double difference = std::abs(static_cast<double>(actual.data[n] - expected.data[n]));
    if (!(difference <= tolerance)) {
      return testing::AssertionFailure()
             << "element " << n << ": " << actual.data[n] << " and " << expected.data[n]
             << " differ by " << difference << ", tolerance " << tolerance;
    }
  }
  return testing::AssertionSuccess();
}

template <class T>
bool same_bits(const T* x, const T* y, int64_t count) {
  return std::memcmp(x, y, static_cast<size_t>(count) * sizeof(T)) == 0;
}

template <class T>
bool same_bits(const Array<T>& x, const Array<T>& y) {
  return x.data.size() == y.data.size() &&
         same_bits(x.data.data(), y.data.data(), static_cast<int64_t>(x.data.size()));
}

template <class T>
struct Case {
  explicit Case(const Sizes& s) : sizes(s) {
    std::mt19937 random(20240607);
    for (Array<T>* a : {&q, &k, &v, &dout}) a->randomize(random);
    if (s.masked) hide_at_random(random);
  }

  void forward() {
    kernels::attention_forward(sizes.shape(), q.in(), k.in(), v.in(), mask(), out.out(),
                               lse.data.data());
  }
  void backward() {
    kernels::attention_backward(sizes.shape(), q.in(), k.in(), v.in(), mask(), out.in(),
                                lse.data.data(), dout.in(), dq.out(), dk.out(), dv.out());
  }
  void forward_reference() {
    kernels::attention_forward_reference(sizes.shape(), q.in(), k.in(), v.in(), mask(), out.out(),
                                         lse.data.data());
  }
  void backward_reference() {
    kernels::attention_backward_reference(sizes.shape(), q.in(), k.in(), v.in(), mask(), out.in(),
                                          lse.data.data(), dout.in(), dq.out(), dk.out(), dv.out());
  }

  kernels::MayAttend mask() const {
    if (may_attend.empty()) return {nullptr, 0, 0, 0, 0};
    const int64_t head = sizes.Tq * sizes.Tk;
    return {may_attend.data(), sizes.H * head, head, sizes.Tk, 1};
  }
  uint8_t& may(int64_t b, int64_t h, int64_t i, int64_t j) {
    may_attend.resize(static_cast<size_t>(sizes.B * sizes.H * sizes.Tq * sizes.Tk), 1);
    return may_attend[static_cast<size_t>(((b * sizes.H + h) * sizes.Tq + i) * sizes.Tk + j)];
  }

  Sizes sizes;
  Array<T> q{sizes.B, sizes.H, sizes.Tq, sizes.d};
  Array<T> k{sizes.B, sizes.G, sizes.Tk, sizes.d};
  Array<T> v{sizes.B, sizes.G, sizes.Tk, sizes.dv};
  Array<T> dout{sizes.B, sizes.H, sizes.Tq, sizes.dv};
  std::vector<uint8_t> may_attend;
  Array<T> out = dout;
  Array<T> lse{sizes.B, sizes.H, sizes.Tq, 1};
  Array<T> dq = q;
  Array<T> dk = k;
  Array<T> dv = v;

 private:
  void hide_at_random(std::mt19937& random) {
    for (int64_t b = 0; b < sizes.B; ++b) {
      for (int64_t h = 0; h < sizes.H; ++h) {
        for (int64_t i = 0; i < sizes.Tq; ++i) {
          const bool no_first_block = random() % 4 == 0;
          const bool nothing = random() % 8 == 0;
          for (int64_t j = 0; j < sizes.Tk; ++j) {
            const bool hidden = nothing || (no_first_block && j < 130) || random() % 3 == 0;
            may(b, h, i, j) = hidden ? 0 : 1;
          }
        }
      }
    }
  }
};

}  // namespace lookback::test
