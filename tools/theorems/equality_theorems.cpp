// Theorems that say: two ways lead to the same numbers, within rounding or to the bit.
#include <sstream>

#include "attention/fused.h"
#include "attention/multi_head.h"
#include "attention/streaming.h"
#include "engine/kernels/threads.h"
#include "engine/ops.h"
#include "nn/embedding.h"
#include "tools/fixed_threads.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

struct Case {
  Projections projections;
  Tensor x;
};

Case random_case(uint64_t seed, const Shape& shape, int64_t kv_heads, DType dtype) {
  Generator generator(seed);
  Case c;
  c.projections = random_projections(shape[2], 4, kv_heads, generator, dtype);
  c.x = randn(shape, generator, dtype);
  return c;
}

// Without a mask and without positions, permuting the rows of x permutes the output; positions
// added to x change nothing about that; permuting *tokens* before positions are added breaks it.
Outcome permutation(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  constexpr int64_t T = 8;
  Generator generator(seed);
  const nn::Embedding token(10, 16, generator, DType::f64);
  const Tensor positions = randn({T, 16}, generator, DType::f64);
  const Tensor index = from_vector<int64_t>({3, 1, 4, 1, 5, 9, 2, 6}, {T});
  const Tensor order = from_vector<int64_t>({2, 0, 7, 5, 1, 6, 3, 4}, {T});
  const auto head = [&](const Tensor& x) {
    return subject.attend(x, x, x, Tensor()).output.detach();
  };
  const auto permuted = [&](const Tensor& rows) { return index_select(rows, 0, order); };
  const Tensor x = token.forward(index).detach();
  const Tensor permuted_tokens = token.forward(permuted(index)).detach();

  check.close("rows permuted", head(permuted(x)), permuted(head(x)), 1e-6);
  check.close("rows with positions permuted", head(permuted(x + positions)),
              permuted(head(x + positions)), 1e-6);
  check.close("tokens permuted", head(permuted_tokens), permuted(head(x)), 1e-6);
  const Tensor broken = head(permuted_tokens + positions) - permuted(head(x + positions));
  const double difference = max(abs(broken)).item<double>();
  check.that(difference > 0.1, "tokens permuted before positions: the symmetry is not broken");
  std::ostringstream note;
  note.precision(3);
  note << "tokens permuted before positions are added: differs by " << difference;
  check.note(note.str());
  return check.outcome();
}

// Keys one at a time, with a running maximum and a running sum.
Outcome streaming(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  Generator generator(seed);
  const Tensor q = randn({2, 7, 16}, generator, DType::f64);
  const Tensor k = randn({2, 7, 16}, generator, DType::f64);
  const Tensor v = randn({2, 7, 5}, generator, DType::f64);
  const Tensor mask = subject.mask(7, 7, 0);
  const Tensor dense = subject.attend(q, k, v, mask).output;
  const Tensor causal = tril(ones({7, 7})) > 0.5;
  for (const std::vector<int64_t>& blocks :
       std::vector<std::vector<int64_t>>{{}, {3, 4}, {1, 5, 1}, {7}}) {
    check.close("output", dense,
                attention::streaming_attention(q, k, v, causal, {.blocks = blocks}), 1e-12);
  }
  return check.outcome();
}

// Blockwise, without the T x T matrix.
Outcome fused(const Subject& subject, uint64_t seed) {
  Checker check(subject);
  Generator generator(seed);
  for (const int64_t T : {1, 17, 65}) {
    const Tensor q = randn({2, T, 16}, generator, DType::f64);
    const Tensor k = randn({2, T, 16}, generator, DType::f64);
    const Tensor v = randn({2, T, 16}, generator, DType::f64);
    check.close("output, T = " + std::to_string(T),
                subject.attend(q, k, v, subject.mask(T, T, 0)).output,
                attention::fused_attention(q, k, v, {}, {.causal = true}), 1e-12);
  }
  return check.outcome();
}

// Calls body(case) for both precisions and for plain and grouped heads.
template <class Body>
Outcome for_each_case(const Subject& subject, uint64_t seed, const Shape& shape, const Body& body) {
  Checker check(subject);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const int64_t kv_heads : {4, 2}) body(check, random_case(seed, shape, kv_heads, dtype));
  }
  return check.outcome();
}

// H independent heads, side by side, projected; on the path that the subject takes.
Outcome concatenated(const Subject& subject, uint64_t seed) {
  return for_each_case(subject, seed, {2, 7, 16}, [&](Checker& check, const Case& c) {
    const int64_t kv_heads = c.projections.num_kv_heads;
    Generator unused(0);
    const attention::MultiHeadAttentionOptions options = {.d_model = 16,
                                                          .num_heads = 4,
                                                          .num_kv_heads = kv_heads,
                                                          .max_length = 7,
                                                          .fused = subject.fused,
                                                          .dtype = c.x.dtype()};
    attention::MultiHeadAttention source(options, unused);
    source.query.weight = c.projections.query;
    source.key.weight = c.projections.key;
    source.value.weight = c.projections.value;
    source.output.weight = c.projections.output;
    source.query.bias = c.projections.query_bias;
    source.key.bias = c.projections.key_bias;
    source.value.bias = c.projections.value_bias;
    source.output.bias = c.projections.output_bias;
    attention::ConcatHeads heads(options, unused);
    heads.copy_weights_from(source);
    check.same_bits("output, H_kv " + std::to_string(kv_heads),
                    subject.multi_head(c.projections, c.x, 0), heads.forward(c.x));
  });
}

Outcome cached(const Subject& subject, uint64_t seed) {
  return for_each_case(subject, seed, {2, 5, 16}, [&](Checker& check, const Case& c) {
    const Tensor full_pass = subject.multi_head(c.projections, c.x, 0);
    for (const std::vector<int64_t>& pieces :
         std::vector<std::vector<int64_t>>{{1, 1, 1, 1, 1}, {3, 1, 1}, {2, 3}}) {
      check.same_bits("decoded in " + std::to_string(pieces.size()) + " pieces",
                      subject.decode(c.projections, c.x, pieces), full_pass);
    }
  });
}

Outcome prefix(const Subject& subject, uint64_t seed) {
  return for_each_case(subject, seed, {2, 17, 16}, [&](Checker& check, const Case& c) {
    const Tensor full_pass = subject.multi_head(c.projections, c.x, 0);
    for (const int64_t t : {1, 7, 16}) {
      check.same_bits("first " + std::to_string(t),
                      subject.multi_head(c.projections, narrow(c.x, 1, 0, t).clone(), 0),
                      narrow(full_pass, 1, 0, t));
    }
  });
}

Outcome batch(const Subject& subject, uint64_t seed) {
  return for_each_case(subject, seed, {3, 7, 16}, [&](Checker& check, const Case& c) {
    const Tensor together = subject.multi_head(c.projections, c.x, 0);
    for (int64_t b = 0; b < 3; ++b) {
      check.same_bits("sequence " + std::to_string(b) + " alone",
                      subject.multi_head(c.projections, narrow(c.x, 0, b, 1).clone(), 0),
                      narrow(together, 0, b, 1));
    }
  });
}

Outcome threads(const Subject& subject, uint64_t seed) {
  const FixedThreads restored(num_threads());
  return for_each_case(subject, seed, {2, 65, 32}, [&](Checker& check, const Case& c) {
    set_num_threads(1);
    const Tensor one = subject.multi_head(c.projections, c.x, 0);
    for (const int count : {2, 3, 8}) {
      set_num_threads(count);
      check.same_bits(std::to_string(count) + " threads", subject.multi_head(c.projections, c.x, 0),
                      one);
    }
  });
}

}  // namespace

std::vector<Theorem> equality_theorems() {
  return {
      {"permutation",
       "Attention is permutation-equivariant in its rows; positions in tokens break it",
       "x (8, 16), four statements", false, 1e-6, false, permutation},
      {"streaming", "Streaming attention, key by key, equals dense attention", "q, k, v (2, 7, 16)",
       false, 1e-12, false, streaming},
      {"fused", "Blockwise attention equals dense attention", "q, k, v (2, T, 16), T 1, 17, 65",
       false, 1e-12, false, fused},
      {"heads", "Multi-head attention equals its heads, concatenated and projected",
       "x (2, 7, 16), H 4, H_kv 4, 2", true, 0, true, concatenated},
      {"cache", "Decoding through the cache, in any pieces, equals the full pass",
       "x (2, 5, 16); pieces 1+1+1+1+1, 3+1+1, 2+3", true, 0, true, cached},
      {"prefix", "The first t outputs are those of the first t tokens alone", "x (2, 17, 16)", true,
       0, true, prefix},
      {"batch", "A sequence has the same output alone as in a batch", "x (3, 7, 16)", true, 0, true,
       batch},
      {"threads", "The number of threads changes no bit", "x (2, 65, 32); 1, 2, 3, 8 threads", true,
       0, true, threads},
  };
}

}  // namespace lookback::tools
