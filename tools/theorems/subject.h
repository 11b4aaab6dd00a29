// Subject: the functions that the theorems speak about. The library is one subject; a mutant is a
// subject in which exactly one step is wrong. The theorems cannot tell which they are given.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attention/multi_head.h"
#include "attention/scaled_dot_product.h"
#include "engine/tensor.h"

namespace lookback::tools {

// The weights of a multi-head attention; each (D, D) or, for keys and values, (H_kv d_k, D).
struct Projections {
  int64_t num_heads = 1;
  int64_t num_kv_heads = 1;
  Tensor query, key, value, output;
  Tensor query_bias, key_bias, value_bias, output_bias;
};

Projections random_projections(int64_t d_model, int64_t num_heads, int64_t num_kv_heads,
                               Generator& generator, DType dtype);

// The same numbers in another precision.
Projections in_precision(const Projections& projections, DType dtype);

// Gives a layer these weights: the tensors themselves, not copies, so that gradients reach them.
void use(attention::MultiHeadAttention& layer, const Projections& projections);

struct Subject {
  std::string name;
  std::string sentence;  // what is wrong with it
  bool fused = false;    // takes the fused path: what it must equal to the bit does so too

  // (Tq, Tk), true = may attend; window 0: causal, W: the last W keys.
  std::function<Tensor(int64_t Tq, int64_t Tk, int64_t window)> mask;
  // q (.., Tq, d), k (.., Tk, d), v (.., Tk, d_v); an undefined mask allows every key.
  std::function<attention::AttentionResult(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Tensor& mask)>
      attend;
  // Causal self-attention: output (B, T, D) from x (B, T, D), and its weights (B, H, T, T),
  // undefined where they are not asked for.
  std::function<attention::AttentionResult(const Projections&, const Tensor& x, int64_t window)>
      multi_head;
  // The same through a key-value cache, the tokens fed in pieces of these sizes.
  std::function<Tensor(const Projections&, const Tensor& x, const std::vector<int64_t>& pieces)>
      decode;
  // Whether all |a - b| <= tolerance: what the other checks rely on.
  std::function<bool(double a, double b, double tolerance)> close;
};

// The real thing: attention/*.h. The fused path never holds its matrix of weights A; attend() finds
// it as what the path makes of the values I: A I = A. `ask_weights`: multi_head is
// forward_with_weights, which must change no bit.
Subject library_subject(bool fused, bool ask_weights = false);

// The library taken apart into the steps of the formula, each of which can be replaced.
struct Steps {
  std::function<Tensor(int64_t Tq, int64_t Tk, int64_t window)> mask;
  std::function<Tensor(const Tensor& q, const Tensor& k, int64_t d_model)> scores;
  std::function<Tensor(const Tensor& scores, const Tensor& mask)> weights;
  std::function<Tensor(const Tensor& weights, const Tensor& v)> mix;
  std::function<Tensor(const Tensor& x, const Tensor& weight, const Tensor& bias)> project;
  std::function<Tensor(const Tensor& x, int64_t num_heads)> split;     // (B, T, D) -> (B, H, T, d)
  std::function<Tensor(const Tensor& x)> merge;                        // (B, H, T, d) -> (B, T, D)
  std::function<Tensor(const Tensor& x, int64_t repeats)> share;       // (B, G, T, d) -> (B, H, ..)
  std::function<Tensor(const Tensor& past, const Tensor& now)> cache;  // (B, G, T, d), along T
  std::function<bool(double a, double b, double tolerance)> close;
};

Steps correct_steps();

Subject assemble(std::string name, std::string sentence, const Steps& steps);

// The classic bugs, each one step away from correct.
std::vector<Subject> mutants();

}  // namespace lookback::tools
