#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "engine/backward.h"
#include "engine/ops.h"
#include "tests/support/matchers.h"

namespace lookback::test {
namespace {

Shape parse_shape(const std::string& text) {
  Shape shape;
  if (text == "scalar") return shape;
  std::istringstream sizes(text);
  std::string size;
  while (std::getline(sizes, size, 'x')) shape.push_back(std::stoll(size));
  return shape;
}

}  // namespace

Golden::Golden(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    std::string shape;
    words >> name >> shape;
    std::vector<double> values;
    std::string value;
    while (words >> value) values.push_back(std::strtod(value.c_str(), nullptr));
    tensors_[name] = from_vector(values, parse_shape(shape));
  }
}

std::vector<std::string> Golden::names() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

Tensor Golden::get(const std::string& name, DType dtype) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::runtime_error("no golden values of " + name);
  return to(found->second, dtype).clone();
}

void Golden::expect(const std::string& name, const std::vector<std::string>& keys, DType dtype,
                    const TensorFunction& fn) const {
  const double tolerance = dtype == DType::f64 ? 1e-10 : 1e-5;
  std::vector<Tensor> inputs;
  for (const std::string& key : keys) {
    inputs.push_back(get(name + "." + key, dtype).set_requires_grad(true));
  }
  const Tensor out = fn(inputs);
  EXPECT_TRUE(all_close(out, get(name + ".out", dtype), tolerance)) << name << ".out";
  const std::vector<Tensor> gradients = grad(out, inputs, get(name + ".seed", dtype));
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_TRUE(all_close(gradients[i], get(name + ".d." + keys[i], dtype), tolerance))
        << name << ".d." << keys[i];
  }
}

}  // namespace lookback::test
