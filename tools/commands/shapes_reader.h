// Reads the tables of attention/SHAPES.md along with a traced forward pass: what each op's axes
// are, what it is for, and which line of code it comes from.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace lookback::tools {

class ShapesReader {
 public:
  struct Op {
    std::string axes;     // "(B, H, T, d_k)"
    std::string meaning;  // "one matrix per head"
    std::string source;   // "attention/multi_head.cpp:44"
  };

  // `layer` as in the headings, "MultiHeadAttention".
  explicit ShapesReader(const std::string& layer);

  // The next recorded op's row. Rows of ops that only some options or sizes record are passed over.
  // Throws std::logic_error if the table does not go on with `op`, saying with what it does.
  Op next(const std::string& op);
  // After the last op. Throws std::logic_error if the table goes on.
  void finish() const;
  // "x", "query.weight"
  std::string input_axes(const std::string& name) const { return inputs_.at(name); }

 private:
  using Row = std::vector<std::string>;

  std::string table_;                          // for messages
  std::map<std::string, std::string> inputs_;  // name -> axes
  std::vector<Row> ops_;
  size_t position_ = 0;
};

}  // namespace lookback::tools
