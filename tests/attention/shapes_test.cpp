// attention/SHAPES.md is true: its tables, evaluated for several sizes, are what a traced forward
// pass records, op by op, and every line of code that they quote is in the sources.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "attention/attention.h"
#include "engine/graph_dot.h"
#include "engine/node.h"
#include "tests/support/layers.h"

namespace lookback::test {
namespace {

using Row = std::vector<std::string>;
using Sizes = std::map<std::string, int64_t>;

std::string read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The rows of the table under "## heading", without its two header lines.
std::vector<Row> table(const std::string& heading) {
  std::istringstream text(read("attention/SHAPES.md"));
  std::string line;
  while (std::getline(text, line) && line != "## " + heading) continue;
  std::vector<Row> rows;
  while (std::getline(text, line) && line.rfind("## ", 0) != 0) {
    if (line.empty() || line[0] != '|') continue;
    Row row;
    std::istringstream cells(line.substr(1));
    std::string cell;
    while (std::getline(cells, cell, '|')) row.push_back(trimmed(cell));
    rows.push_back(row);
  }
  EXPECT_GT(rows.size(), 2u) << heading;
  rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

// "(B, T, H d_k)" -> [4, 8, 64]; a size is a product of symbols and numbers.
Shape evaluate(const std::string& text, const Sizes& sizes) {
  Shape shape;
  std::istringstream parts(text.substr(1, text.size() - 2));
  std::string part;
  while (std::getline(parts, part, ',')) {
    int64_t size = 1;
    std::istringstream factors(part);
    std::string factor;
    while (factors >> factor) {
      const auto found = sizes.find(factor);
      size *= found != sizes.end() ? found->second : std::stoll(factor);
    }
    shape.push_back(size);
  }
  return shape;
}

Sizes sizes_of(int64_t B, int64_t T, int64_t H, int64_t H_kv, int64_t d, int64_t D = 0) {
  return {{"B", B},   {"T", T},   {"H", H},     {"H_kv", H_kv},          {"r", H / H_kv},
          {"d_k", d}, {"d_v", d}, {"T_max", T}, {"D", D > 0 ? D : H * d}};
}

// A layer, seen from outside: what goes in, what is recorded.
struct Traced {
  nn::NamedTensors inputs;
  std::vector<std::pair<std::string, Shape>> ops;
};

template <class Layer>
Traced trace(Layer& layer, const Tensor& x) {
  Traced traced;
  traced.inputs.emplace_back("x", x);
  for (const auto& parameter : layer.named_parameters()) traced.inputs.push_back(parameter);
  for (const auto& [name, buffer] : layer.named_buffers()) {
    traced.inputs.emplace_back(name + " (buffer)", buffer);
  }
  for (const auto& node : graph_nodes(layer.forward(x))) {
    if (!node->is_leaf()) traced.ops.emplace_back(node->op, node->shape);
  }
  return traced;
}

Traced trace_head(const Sizes& s) {
  Generator generator(1);
  attention::Head head(s.at("D"), s.at("d_k"), s.at("T"), generator, {.fused = false});
  return trace(head, normal_variable({s.at("B"), s.at("T"), s.at("D")}, DType::f32));
}

Traced trace_multi_head(const Sizes& s) {
  Generator generator(1);
  const attention::MultiHeadAttention layer(
      {.d_model = s.at("D"), .num_heads = s.at("H"), .num_kv_heads = s.at("H_kv"), .fused = false},
      generator);
  return trace(layer, normal_variable({s.at("B"), s.at("T"), s.at("D")}, DType::f32));
}

void expect_tables(const std::string& layer, const Traced& traced, const Sizes& sizes) {
  const std::vector<Row> inputs = table(layer + ": inputs");
  ASSERT_EQ(inputs.size(), traced.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i][0], traced.inputs[i].first);
    EXPECT_EQ(evaluate(inputs[i][1], sizes), traced.inputs[i].second.shape()) << inputs[i][0];
  }
  const std::vector<Row> ops = table(layer + ": forward pass");
  ASSERT_EQ(ops.size(), traced.ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(ops[i][0], traced.ops[i].first) << "row " << i << ": " << ops[i][3];
    EXPECT_EQ(evaluate(ops[i][1], sizes), traced.ops[i].second) << "row " << i << ": " << ops[i][3];
  }
}

TEST(ShapesTable, OfAHeadIsWhatAForwardPassRecords) {
  for (const Sizes& sizes : {sizes_of(4, 8, 1, 1, 16, 32), sizes_of(1, 1, 1, 1, 1, 1),
                             sizes_of(3, 7, 1, 1, 5, 11), sizes_of(2, 5, 1, 1, 5, 5)}) {
    expect_tables("Head", trace_head(sizes), sizes);
  }
}

TEST(ShapesTable, OfMultiHeadAttentionIsWhatAForwardPassRecords) {
  for (const Sizes& sizes : {sizes_of(2, 8, 4, 2, 16), sizes_of(3, 7, 6, 2, 5),
                             sizes_of(2, 5, 4, 1, 3), sizes_of(2, 9, 3, 3, 4)}) {
    expect_tables("MultiHeadAttention", trace_multi_head(sizes), sizes);
  }
}

TEST(ShapesTable, TheNumbersBesideTheSymbolsAreTheirValues) {
  const std::map<std::string, Sizes> examples = {{"Head", sizes_of(4, 8, 1, 1, 16, 32)},
                                                 {"MultiHeadAttention", sizes_of(2, 8, 4, 2, 16)}};
  for (const auto& [layer, sizes] : examples) {
    for (const char* part : {": inputs", ": forward pass"}) {
      for (const Row& row : table(layer + part)) {
        EXPECT_EQ(evaluate(row[1], sizes), evaluate(row[2], {})) << layer << ": " << row[1];
      }
    }
  }
}

TEST(ShapesTable, EveryQuotedLineIsInTheSources) {
  const auto without_spaces = [](std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(),
                              [](unsigned char c) { return std::isspace(c) != 0; }),
               text.end());
    return text;
  };
  std::string sources;
  for (const char* file : {"head.cpp", "multi_head.cpp", "scaled_dot_product.cpp"}) {
    sources += without_spaces(read(std::string("attention/") + file));
  }
  for (const char* layer : {"Head", "MultiHeadAttention"}) {
    for (const Row& row : table(std::string(layer) + ": forward pass")) {
      const std::string quoted = without_spaces(row[4].substr(1, row[4].size() - 2));
      EXPECT_NE(sources.find(quoted), std::string::npos) << row[4];
    }
  }
}

// What the last paragraph of the table says about the fused path.
TEST(ShapesTable, TheFusedPathMakesNoTensorOfTTimesT) {
  constexpr int64_t T = 37;
  Generator generator(1);
  const attention::MultiHeadAttention layer({.d_model = 64, .num_heads = 4}, generator);
  const Traced traced = trace(layer, normal_variable({2, T, 64}, DType::f32));
  int64_t fused_ops = 0;
  for (const auto& [op, shape] : traced.ops) {
    EXPECT_LE(std::count(shape.begin(), shape.end(), T), 1) << op << ' ' << shape;
    if (op != "blockwise_attention") continue;
    EXPECT_EQ(shape, Shape({2, 4, T, 16}));
    ++fused_ops;
  }
  EXPECT_EQ(fused_ops, 1);
}

}  // namespace
}  // namespace lookback::test
