// Golden values: what another system computed, written beside the script that wrote it. A file
// holds one tensor a line (name, shape as 2x3, elements), all float64.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/grad_check.h"
#include "engine/tensor.h"

namespace lookback::test {

class Golden {
 public:
  // Reads a file, named from the root of the sources. Throws std::runtime_error.
  explicit Golden(const std::string& path);

  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  std::vector<std::string> names() const;  // of all tensors, sorted
  Tensor get(const std::string& name, DType dtype = DType::f64) const;

  // Calls fn on the inputs "<name>.<key>" as variables, and expects "<name>.out" and the gradients
  // "<name>.d.<key>" for the seed "<name>.seed", within 1e-10 (float64) or 1e-5 (float32).
  void expect(const std::string& name, const std::vector<std::string>& keys, DType dtype,
              const TensorFunction& fn) const;

 private:
  std::map<std::string, Tensor> tensors_;
};

}  // namespace lookback::test
