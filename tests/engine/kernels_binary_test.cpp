// Binary kernels equal their plain twins to the bit: every size, every combination of contiguous,
// broadcast and strided inputs, in place, on every SIMD target and thread count.
#include "engine/kernels/binary.h"

#include "tests/engine/kernels_support.h"

namespace lookback::kernels {
namespace {

template <class T>
using Binary = void (*)(int64_t, const T*, int64_t, const T*, int64_t, T*);

// Values with specials among them, enough for n elements of the given stride.
template <class T>
std::vector<T> operand(int64_t n, int64_t stride, uint64_t seed) {
  std::vector<T> x =
      random_values<T>(std::max<int64_t>(1, n * std::max<int64_t>(1, stride)), -3, 3, seed);
  const T special[] = {kNaN<T>, kInfinity<T>, T{0}, -T{0}, -kInfinity<T>};
  for (size_t i = 3 + seed; i < x.size(); i += 7) x[i] = special[i % 5];
  return x;
}

template <class T>
void expect_twin(Binary<T> f, Binary<T> twin) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      for (const int64_t a_stride : {1, 0, 3}) {
        for (const int64_t b_stride : {1, 0, 2}) {
          const std::vector<T> a = operand<T>(n, a_stride, 1);
          const std::vector<T> b = operand<T>(n, b_stride, 2);
          std::vector<T> out(static_cast<size_t>(n) + 1, T{77});
          std::vector<T> want(out);
          f(n, a.data(), a_stride, b.data(), b_stride, out.data());
          twin(n, a.data(), a_stride, b.data(), b_stride, want.data());
          ASSERT_TRUE(all_same_bits(out, want))
              << "n = " << n << ", strides " << a_stride << " and " << b_stride;
        }
      }
    }
  });
}

template <class T>
void expect_in_place(Binary<T> f) {
  on_each_target([&] {
    for (const int64_t n : kSizes) {
      std::vector<T> a = random_values<T>(n, 1, 3);
      std::vector<T> b = random_values<T>(n, 1, 3, 2);
      std::vector<T> want(a.size());
      f(n, a.data(), 1, b.data(), 1, want.data());
      std::vector<T> first = a;
      f(n, first.data(), 1, b.data(), 1, first.data());
      ASSERT_TRUE(all_same_bits(first, want));
      f(n, a.data(), 1, b.data(), 1, b.data());
      ASSERT_TRUE(all_same_bits(b, want));
    }
  });
}

template <class T>
class BinaryKernels : public ::testing::Test {};
TYPED_TEST_SUITE(BinaryKernels, Floats);

TYPED_TEST(BinaryKernels, AddEqualsItsTwin) {
  expect_twin<TypeParam>(add_run, add_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, SubEqualsItsTwin) {
  expect_twin<TypeParam>(sub_run, sub_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, MulEqualsItsTwin) {
  expect_twin<TypeParam>(mul_run, mul_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, DivEqualsItsTwin) {
  expect_twin<TypeParam>(div_run, div_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, MaximumEqualsItsTwin) {
  expect_twin<TypeParam>(maximum_run, maximum_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, MinimumEqualsItsTwin) {
  expect_twin<TypeParam>(minimum_run, minimum_run_reference<TypeParam>);
}

TYPED_TEST(BinaryKernels, OutputMayBeAnInput) {
  expect_in_place<TypeParam>(add_run);
  expect_in_place<TypeParam>(sub_run);
  expect_in_place<TypeParam>(maximum_run);
}

TYPED_TEST(BinaryKernels, ReversedInput) {
  const std::vector<TypeParam> a = {1, 2, 3, 4, 5};
  const TypeParam ten = 10;
  std::vector<TypeParam> out(5);
  sub_run(5, a.data() + 4, -1, &ten, 0, out.data());
  EXPECT_EQ(out, (std::vector<TypeParam>{-5, -6, -7, -8, -9}));
}

TYPED_TEST(BinaryKernels, ExtremaKeepNaNFromEitherSide) {
  using T = TypeParam;
  const std::vector<T> a = {kNaN<T>, 1, kNaN<T>, kInfinity<T>};
  const std::vector<T> b = {1, kNaN<T>, -kInfinity<T>, 3};
  on_each_target([&] {
    std::vector<T> out(4);
    maximum_run(4, a.data(), 1, b.data(), 1, out.data());
    EXPECT_TRUE(all_same_bits(out, {kNaN<T>, kNaN<T>, kNaN<T>, kInfinity<T>}));
    minimum_run(4, a.data(), 1, b.data(), 1, out.data());
    EXPECT_TRUE(all_same_bits(out, {kNaN<T>, kNaN<T>, kNaN<T>, T{3}}));
  });
}

TYPED_TEST(BinaryKernels, AddScaledEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      std::vector<T> a = random_values<T>(n, -3, 3);
      const std::vector<T> b = random_values<T>(n, -3, 3, 2);
      std::vector<T> want(a.size());
      add_scaled_run_reference(n, a.data(), T{0.375}, b.data(), want.data());
      add_scaled_run(n, a.data(), T{0.375}, b.data(), a.data());
      ASSERT_TRUE(all_same_bits(a, want)) << "n = " << n;
    }
  });
}

TYPED_TEST(BinaryKernels, SelectEqualsItsTwin) {
  using T = TypeParam;
  on_each_target([] {
    for (const int64_t n : kSizes) {
      std::vector<uint8_t> cond(static_cast<size_t>(std::max<int64_t>(1, 2 * n)));
      for (size_t i = 0; i < cond.size(); ++i) cond[i] = i * 2654435761U >> 7 & 1;
      for (const int64_t cs : {1, 0, 2}) {
        for (const int64_t as : {1, 0, 3}) {
          for (const int64_t bs : {1, 0}) {
            const std::vector<T> a = operand<T>(n, as, 1);
            const std::vector<T> b = operand<T>(n, bs, 2);
            std::vector<T> out(static_cast<size_t>(n) + 1, T{77});
            std::vector<T> want(out);
            select_run(n, cond.data(), cs, a.data(), as, b.data(), bs, out.data());
            select_run_reference(n, cond.data(), cs, a.data(), as, b.data(), bs, want.data());
            ASSERT_TRUE(all_same_bits(out, want)) << n << ": " << cs << " " << as << " " << bs;
          }
        }
      }
    }
  });
}

TYPED_TEST(BinaryKernels, SelectNeverMultiplies) {
  using T = TypeParam;
  const std::vector<uint8_t> cond = {1, 0};
  const std::vector<T> a = {1, kNaN<T>};
  const std::vector<T> b = {kInfinity<T>, 2};
  std::vector<T> out(2);
  select_run(2, cond.data(), 1, a.data(), 1, b.data(), 1, out.data());
  EXPECT_EQ(out, (std::vector<T>{1, 2}));
}

TYPED_TEST(BinaryKernels, BitsDoNotDependOnThreads) {
  using T = TypeParam;
  const int64_t n = 300001;
  const std::vector<T> a = random_values<T>(2 * n, -3, 3);
  const std::vector<T> b = random_values<T>(n, -3, 3, 2);
  for (const int64_t stride : {1, 2, 0}) {
    std::vector<T> want(b.size());
    div_run_reference(n, a.data(), stride, b.data(), 1, want.data());
    with_each_thread_count([&] {
      std::vector<T> out(b.size());
      div_run(n, a.data(), stride, b.data(), 1, out.data());
      EXPECT_TRUE(all_same_bits(out, want));
    });
  }
}

}  // namespace
}  // namespace lookback::kernels
