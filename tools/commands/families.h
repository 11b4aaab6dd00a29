// Families of attention matrices: near-uniform, column-collapse, diagonal-hugging, told from
// chance.
#pragma once

#include <string>

#include "engine/tensor.h"

namespace lookback::tools {

// Averages over queries i >= 1 (query 0 has no choice) of a causal matrix whose rows sum to 1.
struct Family {
  double entropy = 0;       // over log(i + 1): 1 is uniform, 0 one-hot
  double spread = 0;        // (perplexity - 1) / i: how many of the other keys a row makes use of
  double agreement = 0;     // of two queries on a key: 0 as of independent rows, 1 all they can
  double distance = 0;      // mean of i - j, over that of the uniform row
  double first_column = 0;  // mass of key 0, over that of the uniform row
  std::string name;
};

// What independent rows would give: the same rows, each turned by a random number of keys. Such
// copies have the same sharpness row by row, and no key that they share.
inline constexpr int kTurnedCopies = 99;

// Columns and diagonals must be large enough to be seen, and further out than every turned copy,
// which chance alone is in 1 of 100 cases.
inline constexpr double kStrongAgreement = 0.1;
inline constexpr double kShortDistance = 2.0 / 3;
inline constexpr double kEvenSpread = 0.5;

Family family_of(const Tensor& weights);

}  // namespace lookback::tools
