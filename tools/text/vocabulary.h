// The vocabulary of a text: its distinct code points in increasing order, numbered from 0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lookback::text {

// Immutable after construction; safe to share between threads.
class Vocabulary {
 public:
  // The distinct members of `symbols`, sorted: a text or a stored list gives the same vocabulary.
  explicit Vocabulary(std::vector<char32_t> symbols);

  std::int64_t size() const { return static_cast<std::int64_t>(symbols_.size()); }
  const std::vector<char32_t>& symbols() const { return symbols_; }

  // Throws std::invalid_argument that names the first symbol which is not in the vocabulary.
  std::int64_t encode(char32_t symbol) const;
  std::vector<std::int64_t> encode(const std::vector<char32_t>& text) const;

 private:
  std::vector<char32_t> symbols_;  // increasing, distinct
};

}  // namespace lookback::text
