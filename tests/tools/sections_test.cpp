// What the sections of the report say, against the library itself and the sources on disk.
#include "tools/commands/sections.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "attention/multi_head.h"
#include "engine/kernels/threads.h"
#include "engine/ops.h"
#include "engine/storage.h"
#include "tests/tools/sections_support.h"
#include "tools/commands/heatmap.h"

namespace lookback::tools {
namespace {

std::string line_on_disk(const std::string& file, int64_t number) {
  std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  std::string line;
  for (int64_t i = 0; i < number; ++i) std::getline(stream, line);
  return line;
}

// "attention/head.cpp:51, Head::forward; ...": the named line has the name in it.
void expect_places(const std::string& source) {
  std::istringstream places(source);
  for (std::string place; std::getline(places, place, ';');) {
    place.erase(0, place.find_first_not_of(' '));
    const size_t colon = place.find(':');
    if (colon == std::string::npos) {
      EXPECT_EQ(place, "attention/SHAPES.md");
      continue;
    }
    const size_t comma = place.find(", ");
    ASSERT_NE(comma, std::string::npos) << place;
    const std::string line =
        line_on_disk(place.substr(0, colon), std::stoll(place.substr(colon + 1)));
    const std::string name = place.substr(comma + 2);
    static const std::map<std::string, std::string> kSteps = {
        {"the mask, one line above softmax", "where(may_attend, scores"},
        {"the scale", "* scale"},
        {"q.k", "matmul(q, transpose(k"}};
    const auto step = kSteps.find(name);
    EXPECT_NE(line.find(step == kSteps.end() ? name : step->second), std::string::npos)
        << place << " is '" << line << "'";
  }
}

TEST(Sections, NameALineThatIsWhatTheySay) {
  const TextOptions text = prompt("the cat sat");
  for (const Section& section :
       {heatmap_section(text, 1, " --seed 1"), prove_section(1, ""), break_section(1, ""),
        influence_section(text, 1, ""), scale_section(1, ""), atlas_section(text, 1, ""),
        smooth_section(8, 1, ""), row_section(text, 1, -1, ""), stream_section(text, 1, ""),
        order_section(text, 1, ""), cost_section(1024, 1, ""), shapes_section({}, ""),
        graph_section(1, "")}) {
    SCOPED_TRACE(section.id);
    EXPECT_NE(section.source, "");
    expect_places(section.source);
  }
}

// Bytes that stay in use because of the graph: inputs, parameters and output apart.
int64_t bytes_kept(const ShapesOptions& o) {
  Generator generator(1);
  const attention::MultiHeadAttention layer(
      {.d_model = o.D, .num_heads = o.H, .bias = false, .fused = false}, generator);
  const Tensor x = randn({o.B, o.T, o.D}, generator).set_requires_grad(true);
  const int64_t before = allocator_statistics().bytes_in_use;
  const Tensor y = layer.forward(x);
  const int64_t with_graph = allocator_statistics().bytes_in_use;
  const Tensor output = y.clone().detach();
  return with_graph - before - (allocator_statistics().bytes_in_use - with_graph);
}

TEST(Sections, ShapesCountsTheBytesThatTheGraphKeepsAndNamesALineForEveryOp) {
  for (const ShapesOptions& o :
       {ShapesOptions{2, 8, 64, 4}, ShapesOptions{1, 1, 1, 1}, ShapesOptions{3, 5, 6, 1},
        ShapesOptions{1, 7, 12, 12}, ShapesOptions{2, 1, 8, 2}}) {
    const Table table = shapes_section(o, "").tables.at(0);
    int64_t kept = 0;
    for (const auto& row : table.rows) {
      kept += std::stoll(row[column(table, "kept for backward")]);
      const std::string& source = row[column(table, "source")];
      if (row[column(table, "what it is")] == "a variable") continue;
      const size_t colon = source.find(':');
      ASSERT_NE(colon, std::string::npos) << row[1];
      EXPECT_NE(line_on_disk(source.substr(0, colon), std::stoll(source.substr(colon + 1))), "");
    }
    EXPECT_EQ(kept, bytes_kept(o)) << o.B << ' ' << o.T << ' ' << o.D << ' ' << o.H;
  }
}

TEST(Sections, RowListsTheTermsOfEveryScore) {
  const Table all = row_section(prompt("the cat sat"), 1, 5, "").figures.at(0).numbers;
  ASSERT_EQ(all.rows.size(), 11U);
  const size_t score = column(all, "q.k");
  double total = 0;
  for (size_t j = 0; j < all.rows.size(); ++j) {
    double sum = 0;
    for (size_t c = 2; c < score; ++c) sum += std::stod(all.rows[j][c]);
    EXPECT_NEAR(sum, std::stod(all.rows[j][score]), 1e-5) << j;
    EXPECT_NEAR(sum / 4, std::stod(all.rows[j][column(all, "scaled")]), 1e-5) << j;
    const double weight = std::stod(all.rows[j][column(all, "weight")]);
    EXPECT_EQ(weight == 0, j > 5) << j;
    EXPECT_EQ(static_cast<float>(weight),
              static_cast<float>(std::stod(all.rows[j][column(all, "weight (hex)")])));
    total += weight;
  }
  EXPECT_EQ(score, 2U + 16U);
  EXPECT_NEAR(total, 1, 1e-6);
}

TEST(Sections, TermsOfALongRowAreThoseOfItsHeaviestKeys) {
  const Table terms = row_section({}, 1, -1, "").tables.at(0);
  EXPECT_EQ(terms.rows.size(), 17U);  // q itself, and 16 keys
  const Table few = row_section(prompt("the cat"), 1, -1, "").tables.at(0);
  EXPECT_EQ(few.rows.size(), 8U);
}

TEST(Sections, AtlasShowsAllThreeFamiliesOnTheBundledText) {
  const Table table = atlas_section({}, 1, "").tables.at(0);
  std::map<std::string, int64_t> families;
  for (const auto& row : table.rows) ++families[row[column(table, "family")]];
  EXPECT_GT(families["near-uniform"], 0);
  EXPECT_GT(families["column-collapse"], 0);
  EXPECT_GT(families["diagonal-hugging"], 0);
}

TEST(Sections, FilesHoldEveryPanel) {
  const TextOptions text = prompt("the cat sat");
  const Table influence = influence_section(text, 1, "").figures.at(0).numbers;
  double total = 0;
  for (const double share : panel_row(influence, "influence, as a share of its row", 10)) {
    total += share;
  }
  EXPECT_NEAR(total, 1, 1e-5);
  EXPECT_EQ(panel_row(influence, "norm of d out_i / d x_j", 3)[4], 0);
  const Table smooth = smooth_section(8, 1, "").figures.at(0).numbers;
  EXPECT_EQ(panel_row(smooth, "signal", 0).size(), 8U);
  EXPECT_EQ(panel_row(smooth, "s = 2, smoothed", 0)[0], panel_row(smooth, "signal", 0)[0]);
  const Table stream = stream_section(text, 1, "").figures.at(0).numbers;
  EXPECT_EQ(column(stream, "output, channel 15") + 1, stream.rows[0].size());
  EXPECT_EQ(panel_row(heatmap_section(text, 1, "").figures.at(1).numbers, "seed 5", 0)[0], 1);
}

TEST(Sections, WordsAreMadeFromWhatWasMeasured) {
  EXPECT_NE(scale_section(1, "").figures.at(0).caption, scale_section(2, "").figures.at(0).caption);
  const TextOptions text = prompt("the cat sat on the mat");
  EXPECT_NE(order_section(text, 1, "").figures.at(0).caption,
            order_section(text, 2, "").figures.at(0).caption);
  // Of equal tokens at other places, too.
  const Section same = atlas_section(prompt(std::string(40, 'a')), 1, "");
  EXPECT_EQ(quantity(same, "W_q and W_k one matrix, d_k 16 or 64, heads"), 120);
}

TEST(Sections, OrderNamesTheTheoremsThatTheMutationLabFindsFailing) {
  const Table matrix = break_section(3, "").figures.at(0).numbers;
  int64_t failing = 0;
  for (const auto& row : matrix.rows) {
    failing += row[0] == "mask after softmax" && row[3] == "yes" ? 1 : 0;
  }
  const Section order = order_section(prompt("the cat"), 3, "");
  EXPECT_EQ(quantity(order, "theorems that fail"), failing);
}

TEST(Sections, OrderSaysOnceWhatAllRowSumsAre) {
  const Section order = order_section(prompt("the cat sat on the mat"), 1, "");
  EXPECT_EQ(order.facts.at(0).sentence.find("1 to 1"), std::string::npos);
  EXPECT_NE(order.facts.at(0).sentence.find("all row sums 1 within"), std::string::npos);
  EXPECT_NE(order.facts.at(1).sentence.find(" to 1"), std::string::npos);
}

// e^-(d^2 / 2 s^2) is 0 in float64 from about 745 on.
TEST(Sections, SmoothSaysFromWhereWeightsAreZeroThatNoKernelMakesZero) {
  const Section smooth = smooth_section(64, 1, "");
  EXPECT_EQ(quantity(smooth, "s = 0.5, positions back"), 20);
  EXPECT_EQ(quantity(smooth, "s = 2, positions back"), 64);  // nowhere
  const std::vector<double> last = panel_row(smooth.figures.at(0).numbers, "s = 0.5", 63);
  EXPECT_EQ(last[63 - 20], 0);
  EXPECT_GT(last[63 - 19], 0);
  EXPECT_EQ(smooth_section(8, 1, "").facts.size(), 4U);  // nothing underflows there
}

TEST(Sections, BreakDoesNotDependOnTheNumberOfThreads) {
  const int before = num_threads();
  set_num_threads(1);
  const Table one = break_section(1, "").figures.at(0).numbers;
  set_num_threads(3);
  const Table three = break_section(1, "").figures.at(0).numbers;
  set_num_threads(before);
  EXPECT_EQ(one.rows, three.rows);
}

TEST(Sections, CostTimesOneThreadAndSaysHowWellTheLineFits) {
  const int before = num_threads();
  const Section cost = cost_section(1024, 1, "");
  EXPECT_EQ(num_threads(), before);
  EXPECT_EQ(cost.tables.at(0).rows.size(), 5U);
  EXPECT_GT(quantity(cost, "dense time, half of the 95 % interval"), 0);
  EXPECT_NEAR(quantity(cost, "fused bytes, exponent"), 1, 0.1);
}

TEST(Sections, HoverKnowsWhichRowItIs) {
  const Section section = heatmap_section(prompt("the cat"), 1, "");
  EXPECT_EQ(section.figures.at(3).hover.at(0).first_row, 6);
}

TEST(Sections, GraphCarriesTheGradientOfEveryNode) {
  const Section section = graph_section(1, "");
  const Table& nodes = section.tables.at(0);
  EXPECT_EQ(nodes.rows.back()[1], "sum");
  EXPECT_EQ(nodes.rows.back().back(), "1");  // of the sum with respect to itself
  std::map<std::string, double> norms;
  for (const auto& row : nodes.rows) norms[row[1]] = std::stod(row.back());
  for (const char* variable : {"x", "query.weight", "key.weight", "value.weight"}) {
    EXPECT_GT(norms.at(variable), 0) << variable;
  }
  const std::string& dot = section.drawings.at(0).dot;
  EXPECT_EQ(dot.rfind("digraph", 0), 0U);
  int64_t arrows = 0;  // one for each recorded input
  for (size_t at = dot.find("->"); at != std::string::npos; at = dot.find("->", at + 1)) ++arrows;
  EXPECT_EQ(arrows, std::count_if(nodes.rows.begin(), nodes.rows.end(), [](const auto& row) {
                      return row[3] != "a variable";
                    }) + 5);  // five products have two inputs each
}

}  // namespace
}  // namespace lookback::tools
