// Cross-entropy kernels: near their plain twins, the hand-worked cases, gradients that sum to zero,
// bits that depend on neither the other rows nor threads.
#include "engine/kernels/cross_entropy.h"

#include <numeric>

#include "engine/kernels/lane_sum.h"
#include "engine/kernels/unary.h"
#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T>
constexpr double kTolerance = 8 * std::numeric_limits<T>::epsilon();

template <class T>
struct Batch {
  int64_t rows, classes;
  std::vector<T> logits;
  std::vector<int64_t> target;
  std::vector<T> loss, largest, log_sum, dlogits;
};

template <class T>
Batch<T> batch(int64_t rows, int64_t classes) {
  Batch<T> out{rows, classes, random_values<T>(rows * classes, -8, 8), {}, {}, {}, {}, {}};
  for (int64_t r = 0; r < rows; ++r) out.target.push_back(r * 7 % classes);
  out.loss.resize(out.target.size());
  out.largest.resize(out.target.size());
  out.log_sum.resize(out.target.size());
  out.dlogits.resize(out.logits.size());
  return out;
}

template <class T>
void run(Batch<T>& b) {
  cross_entropy_rows(b.rows, b.classes, b.logits.data(), b.target.data(), b.loss.data(),
                     b.largest.data(), b.log_sum.data());
  cross_entropy_backward_rows(b.rows, b.classes, b.logits.data(), b.largest.data(),
                              b.log_sum.data(), b.target.data(), T{0.5}, b.dlogits.data());
}

template <class T>
void run_reference(Batch<T>& b) {
  cross_entropy_rows_reference(b.rows, b.classes, b.logits.data(), b.target.data(), b.loss.data(),
                               b.largest.data(), b.log_sum.data());
  cross_entropy_backward_rows_reference(b.rows, b.classes, b.logits.data(), b.largest.data(),
                                        b.log_sum.data(), b.target.data(), T{0.5},
                                        b.dlogits.data());
}

template <class T>
class CrossEntropyKernels : public ::testing::Test {};
TYPED_TEST_SUITE(CrossEntropyKernels, Floats);

TYPED_TEST(CrossEntropyKernels, AgreeWithTheirTwins) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t classes : kSizes) {
      if (classes == 0) continue;
      Batch<T> out = batch<T>(5, classes);
      Batch<T> want = out;
      run(out);
      run_reference(want);
      ASSERT_TRUE(all_near(out.loss, want.loss, kTolerance<T>)) << classes;
      ASSERT_TRUE(all_same_bits(out.largest, want.largest)) << classes;
      ASSERT_TRUE(all_near(out.log_sum, want.log_sum, kTolerance<T>)) << classes;
      ASSERT_TRUE(all_near(out.dlogits, want.dlogits, kTolerance<T>)) << classes;
    }
  });
}

// log_sum = log(sum of exp(logit - largest)), the sum in the order of lane_sum.h: no tolerance.
TYPED_TEST(CrossEntropyKernels, TheSumHasTheOneOrder) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t classes : kSizes) {
      if (classes == 0) continue;
      Batch<T> b = batch<T>(1, classes);
      run(b);
      std::vector<T> e;
      for (const T logit : b.logits) e.push_back(logit - b.largest[0]);
      exp_run(classes, e.data(), e.data());
      T want = lane_sum<T>(classes, [&](int64_t k) { return e[static_cast<size_t>(k)]; });
      log_run(1, &want, &want);
      ASSERT_TRUE(same_bits(b.log_sum[0], want)) << classes;
    }
  });
}

TYPED_TEST(CrossEntropyKernels, EqualLogitsLoseTheLogOfTheirNumber) {
  using T = TypeParam;
  on_each_target([] {
    Batch<T> b = batch<T>(2, 4);
    std::fill(b.logits.begin(), b.logits.end(), T{3});
    run(b);
    EXPECT_NEAR(b.loss[0], std::log(4.0), kTolerance<T>);
    EXPECT_EQ(b.largest[0], T{3});
    EXPECT_NEAR(b.log_sum[0], std::log(4.0), kTolerance<T>);
    EXPECT_NEAR(b.dlogits[0], 0.5 * (0.25 - 1), kTolerance<T>);
    EXPECT_NEAR(b.dlogits[1], 0.5 * 0.25, kTolerance<T>);
  });
}

TYPED_TEST(CrossEntropyKernels, OneClassIsCertain) {
  Batch<TypeParam> b = batch<TypeParam>(1, 1);
  run(b);
  EXPECT_EQ(b.loss[0], 0);
  EXPECT_EQ(b.dlogits[0], 0);
}

TYPED_TEST(CrossEntropyKernels, ASmallLossKeepsItsDigits) {
  using T = TypeParam;
  Batch<T> b = batch<T>(1, 2);
  b.logits = {T{1000}, T{990}};
  b.target = {0};
  run(b);
  EXPECT_NEAR(b.loss[0] / std::log1p(std::exp(-10.0)), 1, sizeof(T) == 4 ? 1e-2 : 1e-11);
  EXPECT_GT(b.loss[0], 0);
}

TYPED_TEST(CrossEntropyKernels, MaskedLogitsHaveNoGradient) {
  using T = TypeParam;
  on_each_target([] {
    Batch<T> b = batch<T>(1, 40);
    for (size_t k = 10; k < 40; ++k) b.logits[k] = -kInfinity<T>;
    run(b);
    EXPECT_TRUE(std::isfinite(b.loss[0]));
    for (size_t k = 10; k < 40; ++k) EXPECT_EQ(b.dlogits[k], T{0});
  });
}

TYPED_TEST(CrossEntropyKernels, GradientsOfARowSumToZero) {
  using T = TypeParam;
  Batch<T> b = batch<T>(1, 1000);
  run(b);
  EXPECT_NEAR(std::accumulate(b.dlogits.begin(), b.dlogits.end(), 0.0), 0, kTolerance<T>);
}

TYPED_TEST(CrossEntropyKernels, NaNStaysInItsRow) {
  using T = TypeParam;
  on_each_target([] {
    Batch<T> b = batch<T>(3, 33);
    b.logits[40] = kNaN<T>;
    run(b);
    EXPECT_FALSE(std::isnan(b.loss[0]));
    EXPECT_TRUE(std::isnan(b.loss[1]));
    EXPECT_FALSE(std::isnan(b.loss[2]));
  });
}

TYPED_TEST(CrossEntropyKernels, BitsDependOnNeitherRowsNorThreads) {
  using T = TypeParam;
  Batch<T> whole = batch<T>(300, 301);
  Batch<T> rows = whole;
  for (int64_t r = 0; r < 300; ++r) {
    cross_entropy_rows(1, 301, rows.logits.data() + r * 301, rows.target.data() + r,
                       rows.loss.data() + r, rows.largest.data() + r, rows.log_sum.data() + r);
    cross_entropy_backward_rows(1, 301, rows.logits.data() + r * 301, rows.largest.data() + r,
                                rows.log_sum.data() + r, rows.target.data() + r, T{0.5},
                                rows.dlogits.data() + r * 301);
  }
  with_each_thread_count([&] {
    run(whole);
    EXPECT_TRUE(all_same_bits(whole.loss, rows.loss));
    EXPECT_TRUE(all_same_bits(whole.log_sum, rows.log_sum));
    EXPECT_TRUE(all_same_bits(whole.dlogits, rows.dlogits));
  });
}

}  // namespace
}  // namespace lookback::kernels
