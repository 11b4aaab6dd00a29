// Where a definition or a piece of code stands. Strategy: small texts with the traps of real ones.
#include "tools/text/sources.h"

#include <gtest/gtest.h>

namespace lookback::text {
namespace {

constexpr std::string_view kText =
    "// scale(x) is what this file is about.\n"     // 1
    "#include \"scale.h\"\n"                        // 2
    "constexpr const char* kName = \"scale\";\n"    // 3
    "Tensor scale(const Tensor& x);\n"              // 4
    "Tensor rescale(const Tensor& x) {\n"           // 5
    "  return scale(x);\n"                          // 6
    "}\n"                                           // 7
    "Tensor Head::scale(const Tensor& x) {\n"       // 8
    "  const Tensor y = scale(\n"                   // 9
    "      x * 2.0);\n"                             // 10
    "}\n"                                           // 11
    "struct Scaled : Base {\n"                      // 12
    "};\n"                                          // 13
    "Tensor scale(const Tensor& x,\n"               // 14
    "             const Tensor& y) { return x; }";  // 15

TEST(Sources, ADefinitionIsNeitherAMentionNorADeclarationNorAnotherName) {
  EXPECT_EQ(line_of_definition(kText, "scale"), 14);
  EXPECT_EQ(line_of_definition(kText, "rescale"), 5);
  EXPECT_EQ(line_of_definition(kText, "Head::scale"), 8);
  EXPECT_EQ(line_of_definition(kText, "Scaled"), 12);
  EXPECT_EQ(line_of_definition(kText, "kName"), 0);
  EXPECT_EQ(line_of_definition(kText, "Scale"), 0);
  EXPECT_EQ(line_of_definition("", "scale"), 0);
}

TEST(Sources, ADeclarationIsBetterThanNothing) {
  EXPECT_EQ(line_of_definition("\nint f(int x);\n", "f"), 2);
}

TEST(Sources, CodeIsFoundAcrossLineBreaks) {
  EXPECT_EQ(line_of_code(kText, "const Tensor y = scale(x * 2.0);"), 9);
  EXPECT_EQ(line_of_code(kText, "x * 2.0"), 10);
  EXPECT_EQ(line_of_code(kText, "x * 3.0"), 0);
  EXPECT_EQ(line_of_code(kText, ""), 0);
}

// Whoever edits the sources, to learn from what breaks, still gets a report.
TEST(Sources, WhatIsNotThereIsCitedByItsFile) {
  EXPECT_EQ(code_at("attention/head.cpp", "no such code"), "attention/head.cpp");
  EXPECT_EQ(definition_at("attention/head.cpp", "no_such_name"),
            "attention/head.cpp, no_such_name");
  EXPECT_EQ(definition_at("no/such/file.cpp", "main"), "no/such/file.cpp, main");
}

}  // namespace
}  // namespace lookback::text
