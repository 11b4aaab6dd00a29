// The ledger and the mutation lab as tests: every theorem holds for the library, and every classic
// bug is caught by a theorem. Each pair is a test of its own.
#include "tools/theorems/theorem.h"

#include <gtest/gtest.h>

#include <stdexcept>

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
    EXPECT_TRUE(theorem_named(id).structural) << id;
    EXPECT_EQ(theorem_named(id).tolerance, 0) << id;
  }
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
