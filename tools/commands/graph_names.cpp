// Names come from the layer, shapes from the engine's own printing.
#include "tools/commands/graph_names.h"

#include <sstream>

namespace lookback::tools {

std::map<const Node*, std::string> variable_names(const Tensor& x, const nn::Module& layer) {
  std::map<const Node*, std::string> names = {{x.node().get(), "x"}};
  for (const auto& [name, parameter] : layer.named_parameters()) {
    names[parameter.node().get()] = name;
  }
  return names;
}

std::string text_of(const Shape& shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

}  // namespace lookback::tools
