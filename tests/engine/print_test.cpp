// The printed form of tensors. What stands before the last line is what PyTorch 1.13 prints between
// "tensor(" and ")", shifted to the left.
#include <gtest/gtest.h>

#include <iomanip>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "engine/ops.h"
#include "engine/tensor.h"
#include "tests/support/variables.h"

namespace lookback {
namespace {

using test::constant;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string printed(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

// Without the last line, which tells shape and dtype.
std::string values(const Tensor& x) {
  const std::string text = printed(x);
  return text.substr(0, text.rfind('\n'));
}

TEST(Print, ShapeAndDtypeComeLast) {
  EXPECT_EQ(printed(from_vector<float>({1, 2, 3, 4, 5, 6}, {2, 3})),
            "[[1., 2., 3.],\n"
            " [4., 5., 6.]]\n"
            "(shape [2, 3], f32)");
  EXPECT_EQ(printed(full({}, 3.5)), "3.5000\n(shape [], f32)");
  EXPECT_EQ(printed(Tensor()), "undefined tensor");
}

TEST(Print, FourDecimalsInColumns) {
  EXPECT_EQ(values(constant({1.5, -2.25, 0.125, 100}, {2, 2})),
            "[[  1.5000,  -2.2500],\n"
            " [  0.1250, 100.0000]]");
  EXPECT_EQ(values(constant({123456.75, 1000.5})), "[123456.7500,   1000.5000]");
}

TEST(Print, WholeFloatsHaveAPoint) {
  EXPECT_EQ(values(constant({10, -3})), "[10., -3.]");
  EXPECT_EQ(values(constant({0, 0, 0})), "[0., 0., 0.]");
  EXPECT_EQ(values(constant({1, 999})), "[  1., 999.]");
}

TEST(Print, ScientificWhereFourDecimalsShowNothing) {
  EXPECT_EQ(values(constant({1e-5, 1})), "[1.0000e-05, 1.0000e+00]");
  EXPECT_EQ(values(constant({0, 1e-5})), "[0.0000e+00, 1.0000e-05]");
  EXPECT_EQ(values(constant({99999999, 1.5})), "[1.0000e+08, 1.5000e+00]");
  EXPECT_EQ(values(constant({1, 1001})), "[1.0000e+00, 1.0010e+03]");
  EXPECT_EQ(values(constant({0.001, 0.5, 2})), "[1.0000e-03, 5.0000e-01, 2.0000e+00]");
}

TEST(Print, InfinitiesAndNaN) {
  EXPECT_EQ(values(constant({1.5, -2.25, kNaN, -kInfinity}, {2, 2})),
            "[[ 1.5000, -2.2500],\n"
            " [    nan,    -inf]]");
  EXPECT_EQ(values(constant({kInfinity})), "[inf]");
}

TEST(Print, IntegersAndBooleans) {
  EXPECT_EQ(values(from_vector<int>({-7, 12, 100}, {3})), "[ -7,  12, 100]");
  EXPECT_EQ(values(from_vector<int>({5}, {})), "5");
  EXPECT_EQ(printed(from_vector<bool>({true, false}, {2})), "[ true, false]\n(shape [2], boolean)");
}

TEST(Print, BlocksOfHigherDimensionsAreSetApart) {
  EXPECT_EQ(values(reshape(arange(8), {2, 2, 2})),
            "[[[0, 1],\n"
            "  [2, 3]],\n"
            "\n"
            " [[4, 5],\n"
            "  [6, 7]]]");
  EXPECT_EQ(values(reshape(arange(2), {2, 1, 1, 1})), "[[[[0]]],\n\n\n [[[1]]]]");
}

TEST(Print, ALongRowGoesOnInTheNextLine) {
  EXPECT_EQ(values(arange(30, DType::f32)),
            "[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13., 14.,\n"
            " 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27., 28., 29.]");
}

TEST(Print, LargeTensorsShowTheirEdges) {
  EXPECT_EQ(values(arange(2000)), "[   0,    1,    2,  ..., 1997, 1998, 1999]");
  EXPECT_EQ(values(reshape(arange(1200), {2, 20, 30})),
            "[[[   0,    1,    2,  ...,   27,   28,   29],\n"
            "  [  30,   31,   32,  ...,   57,   58,   59],\n"
            "  [  60,   61,   62,  ...,   87,   88,   89],\n"
            "  ...,\n"
            "  [ 510,  511,  512,  ...,  537,  538,  539],\n"
            "  [ 540,  541,  542,  ...,  567,  568,  569],\n"
            "  [ 570,  571,  572,  ...,  597,  598,  599]],\n"
            "\n"
            " [[ 600,  601,  602,  ...,  627,  628,  629],\n"
            "  [ 630,  631,  632,  ...,  657,  658,  659],\n"
            "  [ 660,  661,  662,  ...,  687,  688,  689],\n"
            "  ...,\n"
            "  [1110, 1111, 1112,  ..., 1137, 1138, 1139],\n"
            "  [1140, 1141, 1142,  ..., 1167, 1168, 1169],\n"
            "  [1170, 1171, 1172,  ..., 1197, 1198, 1199]]]");
}

// The format follows what is shown: a hidden giant does not widen the columns.
TEST(Print, HiddenElementsDoNotCount) {
  const Tensor x = zeros({5000});
  select(x, 0, 2500).fill_(1e30);
  EXPECT_EQ(values(x), "[0., 0., 0.,  ..., 0., 0., 0.]");
}

TEST(Print, AThousandElementsAreShownInFull) {
  EXPECT_EQ(values(arange(1000)).find("..."), std::string::npos);
  EXPECT_NE(values(arange(1001)).find("..."), std::string::npos);
}

TEST(Print, EmptyTensors) {
  EXPECT_EQ(printed(zeros({0})), "[]\n(shape [0], f32)");
  EXPECT_EQ(printed(zeros({2, 0})), "[]\n(shape [2, 0], f32)");
}

TEST(Print, ViewsAreReadInTheirOwnOrder) {
  const Tensor x = from_vector<int>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values(transpose(x, 0, 1)), "[[1, 4],\n [2, 5],\n [3, 6]]");
}

// A variable prints like a constant, and printing records nothing.
TEST(Print, RecordedTensors) {
  const Tensor x = test::variable({1, 2});
  EXPECT_EQ(values(x * 2.0), "[2., 4.]");
}

TEST(Print, TheStreamsOwnSettingsNeitherLeakInNorChange) {
  std::ostringstream out;
  out << std::hex << std::scientific << std::setprecision(1) << std::setfill('*');
  out << from_vector<int>({10, 255}, {2}) << '\n' << 255 << ' ' << 0.5;
  EXPECT_EQ(out.str(), "[ 10, 255]\n(shape [2], i64)\nff 5.0e-01");
}

}  // namespace
}  // namespace lookback
