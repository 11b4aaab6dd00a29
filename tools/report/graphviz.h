// Graphviz, where it is installed.
#pragma once

#include <optional>
#include <string>

namespace lookback::tools {

// `dot` drawn as "svg" or "png": the file's bytes. Empty if Graphviz's dot is missing or fails.
std::optional<std::string> graphviz(const std::string& dot, const std::string& format);

}  // namespace lookback::tools
