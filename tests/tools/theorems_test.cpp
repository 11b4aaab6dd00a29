// The ledger and the mutation lab as tests: every theorem holds for the library, and every classic
// bug is caught by a theorem. Each pair is a test of its own.
#include "tools/theorems/theorem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "engine/ops.h"

namespace lookback::tools {
namespace {

class LibraryTheorem : public testing::TestWithParam<size_t> {};

TEST_P(LibraryTheorem, HoldsOnBothPaths) {
  const Theorem& theorem = theorems()[GetParam()];
  for (const bool fused : {false, true}) {
    for (const uint64_t seed : {uint64_t{1}, uint64_t{2}}) {
      const Outcome outcome = check_theorem(theorem, library_subject(fused), seed);
      EXPECT_TRUE(outcome.ok) << theorem.statement << ": " << outcome.witness;
      EXPECT_GT(outcome.compared, 0);
    }
  }
}

TEST_P(LibraryTheorem, HoldsForTheAssembledSteps) {
  const Theorem& theorem = theorems()[GetParam()];
  const Outcome outcome = check_theorem(theorem, assemble("control", "", correct_steps()), 1);
  EXPECT_TRUE(outcome.ok) << outcome.witness;
}

// A counterexample is looked for at smaller sizes, so a theorem must be true there, too.
TEST_P(LibraryTheorem, HoldsDownToItsLeastSizes) {
  const Theorem& theorem = theorems()[GetParam()];
  std::vector<Sizes> smaller = {theorem.least};
  for (const auto which : {&Sizes::batch, &Sizes::heads, &Sizes::tokens, &Sizes::width}) {
    for (int64_t n = theorem.least.*which; n < theorem.sizes.*which; n += 1 + n / 4) {
      smaller.push_back(theorem.sizes);
      smaller.back().*which = n;
      smaller.push_back(theorem.least);
      smaller.back().*which = n;
    }
  }
  for (const Sizes& sizes : smaller) {
    for (const uint64_t seed : {uint64_t{1}, uint64_t{2}, uint64_t{3}}) {
      const Outcome outcome = check_theorem(theorem, library_subject(true), seed, sizes);
      EXPECT_TRUE(outcome.ok) << to_string(sizes) << ", seed " << seed << ": " << outcome.witness;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LibraryTheorem, testing::Range(size_t{0}, theorems().size()));

const Theorem& theorem_named(const std::string& id) {
  for (const Theorem& theorem : theorems()) {
    if (theorem.id == id) return theorem;
  }
  throw std::logic_error(id);
}

// A theorem on random numbers must not fail by bad luck.
TEST(Theorems, ScaleHoldsForEverySeed) {
  for (const uint64_t seed : {uint64_t{78}, uint64_t{113}, uint64_t{131}, uint64_t{200}}) {
    const Outcome outcome = check_theorem(theorem_named("scale"), library_subject(false), seed);
    EXPECT_TRUE(outcome.ok) << seed << ": " << outcome.witness;
    EXPECT_LT(outcome.residual, 6);
  }
}

TEST(Theorems, DerivativesAreMeasuredNotJustPassed) {
  for (const char* id : {"gradient", "parameters"}) {
    const Outcome outcome = check_theorem(theorem_named(id), library_subject(false), 1);
    EXPECT_GT(outcome.residual, 0) << id;
    EXPECT_LT(outcome.residual, theorem_named(id).tolerance) << id;
    EXPECT_GT(outcome.compared, 40) << id;
  }
}

TEST(Theorems, TheFiveEqualitiesOfBitsAreStructural) {
  for (const char* id : {"prefix", "batch", "threads", "cache", "heads"}) {
    EXPECT_EQ(theorem_named(id).equality, Equality::bits) << id;
    EXPECT_EQ(theorem_named(id).tolerance, 0) << id;
  }
}

// Fails where T >= 3 and d >= 2; cannot be run at all where T is 5.
Theorem failing_theorem() {
  return {.sizes = {.batch = 2, .tokens = 8, .width = 16},
          .least = {.batch = 1, .tokens = 1, .width = 1},
          .check = [](Checker& check, const Subject&, uint64_t, const Sizes& n) {
            if (n.tokens == 5) throw std::runtime_error("five");
            check.that(n.tokens < 3 || n.width < 2, "wrong");
          }};
}

TEST(Counterexamples, AreTheSmallestOfTheirKind) {
  Theorem theorem = failing_theorem();
  EXPECT_EQ(check_theorem(theorem, library_subject(false), 1).witness, "B 1, T 3, d 2: wrong");
  theorem.least.tokens = 4;  // passes by the size that throws, 5: it fails in another way
  EXPECT_EQ(check_theorem(theorem, library_subject(false), 1).witness, "B 1, T 4, d 2: wrong");
  theorem.least.tokens = theorem.sizes.tokens = 5;
  EXPECT_EQ(check_theorem(theorem, library_subject(false), 1).witness,
            "B 1, T 5, d 1: throws: five");
}

TEST(Counterexamples, NoneIsMadeOfATheoremThatHolds) {
  Theorem theorem = failing_theorem();
  theorem.sizes.tokens = 2;
  const Outcome outcome = check_theorem(theorem, library_subject(false), 1);
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.witness, "");
}

const Subject& mutant_named(const std::string& name) {
  static const std::vector<Subject> all = mutants();
  for (const Subject& mutant : all) {
    if (mutant.name == name) return mutant;
  }
  throw std::logic_error(name);
}

TEST(Counterexamples, SayWhatTheBugNeedsToShow) {
  const auto witness = [](const char* theorem, const char* mutant) {
    return check_theorem(theorem_named(theorem), mutant_named(mutant), 1).witness;
  };
  using testing::StartsWith;
  EXPECT_THAT(witness("simplex", "mask after softmax"),
              StartsWith("B 1, T 2, d 1: row sum of A [0, 0]: 0."));
  EXPECT_THAT(witness("scale", "no scale"), StartsWith("d 2: "));  // sqrt(1) is 1
  EXPECT_THAT(witness("heads", "kv heads tiled"), StartsWith("B 1, H 4, T 1, d 1: H_kv 2"));
  EXPECT_THAT(witness("causal gradient", "window off by one"), StartsWith("B 1, H 1, T 4, d 1"));
}

// One wrong kernel in one precision must not pass because each path is compared with itself.
TEST(Theorems, TheDefinitionCatchesWhatOnePathOrOnePrecisionGetsWrong) {
  for (const DType wrong : {DType::f32, DType::f64}) {
    for (const bool fused : {false, true}) {
      Subject subject = library_subject(fused, true);
      const auto attend = subject.attend;
      subject.attend = [=](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
        return attend(q.dtype() == wrong ? q * 2.0 : q, k, v, mask);
      };
      for (const char* id : {"equation", "gradient equation", "scale"}) {
        EXPECT_FALSE(check_theorem(theorem_named(id), subject, 1).ok) << id << fused << wrong;
      }
      const auto multi_head = subject.multi_head;
      subject.multi_head = [=](const Projections& p, const Tensor& x, int64_t window) {
        attention::AttentionResult result = multi_head(p, x, window);
        if (x.dtype() == wrong) result.weights = result.weights * 0.0;
        return result;
      };
      EXPECT_FALSE(check_theorem(theorem_named("multi-head equation"), subject, 1).ok);
    }
  }
}

// Inside the bounding box of two values, but not between them.
TEST(Theorems, TheHullIsNotABox) {
  Subject subject = library_subject(false);
  const auto attend = subject.attend;
  subject.attend = [=](const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
    attention::AttentionResult result = attend(q, k, v, mask);
    std::vector<bool> even;
    for (int64_t c = 0; c < v.size(-1); ++c) even.push_back(c % 2 == 0);
    const Tensor first = expand(narrow(v, -2, 0, 1), v.shape());
    result.output = where(from_vector(even, {v.size(-1)}), first, v);
    return result;
  };
  EXPECT_FALSE(check_theorem(theorem_named("hull"), subject, 1).ok);
}

class Mutant : public testing::TestWithParam<size_t> {};

TEST_P(Mutant, IsKilledWithAWitness) {
  const Subject mutant = mutants()[GetParam()];
  bool killed = false;
  for (const Theorem& theorem : theorems()) {
    const Outcome outcome = check_theorem(theorem, mutant, 1);
    if (outcome.ok) continue;
    killed = true;
    EXPECT_FALSE(outcome.witness.empty());
    break;
  }
  EXPECT_TRUE(killed) << mutant.name << " survives: " << mutant.sentence;
}

INSTANTIATE_TEST_SUITE_P(All, Mutant, testing::Range(size_t{0}, mutants().size()));

}  // namespace
}  // namespace lookback::tools
