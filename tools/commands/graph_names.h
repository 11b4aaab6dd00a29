// What commands call the nodes of a layer's recorded graph.
#pragma once

#include <map>
#include <string>

#include "engine/node.h"
#include "engine/tensor.h"
#include "nn/module.h"

namespace lookback::tools {

// The variables of layer(x): "x", and the parameters as the layer names them.
std::map<const Node*, std::string> variable_names(const Tensor& x, const nn::Module& layer);

std::string text_of(const Shape& shape);  // "[2, 3]"

}  // namespace lookback::tools
