// Encoding is a binary search: a vocabulary is a few hundred symbols at most.
#include "tools/text/vocabulary.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tools/text/labels.h"

namespace lookback::text {

Vocabulary::Vocabulary(std::vector<char32_t> symbols) : symbols_(std::move(symbols)) {
  std::sort(symbols_.begin(), symbols_.end());
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
}

std::int64_t Vocabulary::encode(char32_t symbol) const {
  const auto found = std::lower_bound(symbols_.begin(), symbols_.end(), symbol);
  if (found == symbols_.end() || *found != symbol) {
    throw std::invalid_argument("character '" + token_label(symbol) + "' (" +
                                code_point_name(symbol) + ") is not in the vocabulary");
  }
  return found - symbols_.begin();
}

std::vector<std::int64_t> Vocabulary::encode(const std::vector<char32_t>& text) const {
  std::vector<std::int64_t> indices;
  indices.reserve(text.size());
  for (const char32_t symbol : text) indices.push_back(encode(symbol));
  return indices;
}

}  // namespace lookback::text
