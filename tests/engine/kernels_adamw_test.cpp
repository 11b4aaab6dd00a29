// AdamW: equal to its plain twin to the bit, the first steps worked by hand, and the decay apart
// from the gradient.
#include "engine/kernels/adamw.h"

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T>
struct State {
  std::vector<T> p, g, m, v;
};

template <class T>
State<T> state(int64_t n) {
  return {random_values<T>(n, -1, 1), random_values<T>(n, -2, 2, 2), random_values<T>(n, -1, 1, 3),
          random_values<T>(n, 0, 1, 4)};
}

template <class T>
void step(State<T>& s, double weight_decay = 0.01) {
  adamw_step(static_cast<int64_t>(s.p.size()), s.p.data(), s.g.data(), s.m.data(), s.v.data(), 1e-3,
             0.9, 0.999, 1e-8, weight_decay, 0.271, 0.002997);
}

template <class T>
class AdamwKernel : public ::testing::Test {};
TYPED_TEST_SUITE(AdamwKernel, Floats);

TYPED_TEST(AdamwKernel, EqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      State<T> out = state<T>(n);
      State<T> want = out;
      step(out);
      adamw_step_reference(n, want.p.data(), want.g.data(), want.m.data(), want.v.data(), 1e-3, 0.9,
                           0.999, 1e-8, 0.01, 0.271, 0.002997);
      ASSERT_TRUE(all_same_bits(out.p, want.p)) << "n = " << n;
      ASSERT_TRUE(all_same_bits(out.m, want.m)) << "n = " << n;
      ASSERT_TRUE(all_same_bits(out.v, want.v)) << "n = " << n;
    }
  });
}

// m = 0.1 g and v = 0.001 g^2, corrected to g and g^2: the first step is lr against the sign of g.
TYPED_TEST(AdamwKernel, TheFirstStepIsTheLearningRate) {
  using T = TypeParam;
  std::vector<T> p = {1, 1};
  const std::vector<T> g = {T{0.5}, T{-20}};
  std::vector<T> m(2);
  std::vector<T> v(2);
  adamw_step(2, p.data(), g.data(), m.data(), v.data(), 0.01, 0.9, 0.999, 1e-8, 0.0, 1 - 0.9,
             1 - 0.999);
  EXPECT_NEAR(p[0], 0.99, 1e-6);
  EXPECT_NEAR(p[1], 1.01, 1e-6);
}

TYPED_TEST(AdamwKernel, DecayIsDecoupledFromTheGradient) {
  using T = TypeParam;
  std::vector<T> p = {2};
  const std::vector<T> g = {0};
  std::vector<T> m(1);
  std::vector<T> v(1);
  adamw_step(1, p.data(), g.data(), m.data(), v.data(), 0.1, 0.9, 0.999, 1e-8, 0.5, 0.1, 0.001);
  EXPECT_NEAR(p[0], 2 * (1 - 0.1 * 0.5), 1e-6);
  EXPECT_EQ(m[0], 0);
  EXPECT_EQ(v[0], 0);
}

TYPED_TEST(AdamwKernel, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  State<T> want = state<T>(100001);
  const State<T> start = want;
  step(want);
  with_each_thread_count([&] {
    State<T> out = start;
    step(out);
    EXPECT_TRUE(all_same_bits(out.p, want.p));
  });
}

}  // namespace
}  // namespace lookback::kernels
