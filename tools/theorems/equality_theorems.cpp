// Theorems that say: two ways lead to the same numbers, within rounding or to the bit.
#include <set>
#include <sstream>
#include <utility>

#include "attention/fused.h"
#include "attention/multi_head.h"
#include "attention/streaming.h"
#include "engine/kernels/threads.h"
#include "engine/ops.h"
#include "nn/embedding.h"
#include "tools/fixed_threads.h"
#include "tools/theorems/operands.h"
#include "tools/theorems/theorem.h"

namespace lookback::tools {
namespace {

// Without a mask and without positions, permuting the rows of x permutes the output; positions
// added to x change nothing about that; permuting *tokens* before positions are added breaks it.
void permutation(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const int64_t T = n.tokens;
  std::vector<int64_t> order = {2, 7, 1, 5, 0, 6, 3, 4};  // moves something at every T > 1
  std::erase_if(order, [T](int64_t t) { return t >= T; });
  const Tensor index = narrow(from_vector<int64_t>({3, 1, 4, 1, 5, 9, 2, 6}, {8}), 0, 0, T);
  const auto head = [&](const Tensor& x) {
    return subject.attend(x, x, x, Tensor()).output.detach();
  };
  const auto permuted = [&](const Tensor& rows) {
    return index_select(rows, 0, from_vector<int64_t>(order, {T}));
  };
  for (const DType dtype : kPrecisions) {
    Generator generator(seed);
    const nn::Embedding token(10, n.width, generator, dtype);
    const Tensor positions = randn({T, n.width}, generator, dtype);
    const Tensor x = token.forward(index).detach();
    const Tensor permuted_tokens = token.forward(permuted(index)).detach();

    check.close("rows permuted", head(permuted(x)), permuted(head(x)));
    check.close("rows with positions permuted", head(permuted(x + positions)),
                permuted(head(x + positions)));
    check.close("tokens permuted", head(permuted_tokens), permuted(head(x)));
    const Tensor broken = head(permuted_tokens + positions) - permuted(head(x + positions));
    const double difference = max(abs(broken)).item<double>();
    check.that(difference > 0.1, "tokens permuted before positions: the symmetry is not broken");
    std::ostringstream note;
    note.precision(3);
    note << "tokens permuted before positions are added: differs by " << difference;
    check.note(note.str());
  }
}

// Keys one at a time, or some at a time, with a running maximum and a running sum.
void streaming(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const int64_t T = n.tokens;
  const Tensor causal = tril(ones({T, T})) > 0.5;
  std::vector<std::vector<int64_t>> blockings = {{}, {T}};
  if (T > 1) blockings.push_back({T / 2, T - T / 2});
  if (T > 2) blockings.push_back({1, T - 2, 1});
  for (const DType dtype : kPrecisions) {
    Operands o = random_operands(seed, n, dtype);
    o.v = narrow(o.v, -1, 0, (n.width + 2) / 3);  // d_v need not be d_k
    const Tensor dense = subject.attend(o.q, o.k, o.v, subject.mask(T, T, 0)).output;
    for (const std::vector<int64_t>& blocks : blockings) {
      check.close("output, " + std::to_string(blocks.empty() ? T : std::ssize(blocks)) + " blocks",
                  dense, attention::streaming_attention(o.q, o.k, o.v, causal, {.blocks = blocks}));
    }
  }
}

// Blockwise, without the T x T matrix.
void fused(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for (const DType dtype : kPrecisions) {
    for (const int64_t T : std::set<int64_t>{1, n.tokens / 4 + 1, n.tokens}) {
      const Operands o =
          random_operands(seed, {.batch = n.batch, .tokens = T, .width = n.width}, dtype);
      check.close("output at T = " + std::to_string(T),
                  subject.attend(o.q, o.k, o.v, subject.mask(T, T, 0)).output,
                  attention::fused_attention(o.q, o.k, o.v, {}, {.causal = true}));
    }
  }
}

struct Case {
  std::string name;
  Projections projections;
  Tensor x;
};

// Calls body(case) for both precisions, and for plain and grouped heads.
template <class Body>
void for_each_case(uint64_t seed, const Sizes& n, const Body& body) {
  const int64_t D = n.heads * n.width;
  for (const DType dtype : kPrecisions) {
    for (const int64_t kv_heads : halvings(n.heads)) {
      Generator generator(seed);
      Case c;
      c.name = "H_kv " + std::to_string(kv_heads) + ", ";
      c.projections = random_projections(D, n.heads, kv_heads, generator, dtype);
      c.x = randn({n.batch, n.tokens, D}, generator, dtype);
      body(c);
    }
  }
}

// H independent heads, side by side, projected; on the path that the subject takes.
void concatenated(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for_each_case(seed, n, [&](const Case& c) {
    const Projections& p = c.projections;
    Generator unused(0);
    const attention::MultiHeadAttentionOptions options = {.d_model = n.heads * n.width,
                                                          .num_heads = n.heads,
                                                          .num_kv_heads = p.num_kv_heads,
                                                          .max_length = n.tokens,
                                                          .fused = subject.fused,
                                                          .dtype = c.x.dtype()};
    attention::MultiHeadAttention source(options, unused);
    use(source, p);
    attention::ConcatHeads heads(options, unused);
    heads.copy_weights_from(source);
    check.same_bits(c.name + "output", subject.multi_head(p, c.x, 0).output, heads.forward(c.x));
  });
}

void cached(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const int64_t T = n.tokens;
  std::vector<std::vector<int64_t>> splits = {std::vector<int64_t>(static_cast<size_t>(T), 1)};
  if (T > 1) splits.push_back({T / 2, T - T / 2});
  if (T > 2) splits.push_back({T - 2, 1, 1});
  for_each_case(seed, n, [&](const Case& c) {
    const Tensor full_pass = subject.multi_head(c.projections, c.x, 0).output;
    for (const std::vector<int64_t>& pieces : splits) {
      check.same_bits(c.name + "decoded in " + std::to_string(pieces.size()) + " pieces",
                      subject.decode(c.projections, c.x, pieces), full_pass);
    }
  });
}

void prefix(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for_each_case(seed, n, [&](const Case& c) {
    const Tensor full_pass = subject.multi_head(c.projections, c.x, 0).output;
    for (const int64_t t : std::set<int64_t>{1, n.tokens / 2, n.tokens - 1}) {
      check.same_bits(c.name + "first " + std::to_string(t),
                      subject.multi_head(c.projections, narrow(c.x, 1, 0, t).clone(), 0).output,
                      narrow(full_pass, 1, 0, t));
    }
  });
}

void batch(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  for_each_case(seed, n, [&](const Case& c) {
    const Tensor together = subject.multi_head(c.projections, c.x, 0).output;
    for (int64_t b = 0; b < n.batch; ++b) {
      check.same_bits(c.name + "sequence " + std::to_string(b) + " alone",
                      subject.multi_head(c.projections, narrow(c.x, 0, b, 1).clone(), 0).output,
                      narrow(together, 0, b, 1));
    }
  });
}

void threads(Checker& check, const Subject& subject, uint64_t seed, const Sizes& n) {
  const FixedThreads restored(num_threads());
  for_each_case(seed, n, [&](const Case& c) {
    set_num_threads(1);
    const Tensor one = subject.multi_head(c.projections, c.x, 0).output;
    for (const int count : {2, 3, 8}) {
      set_num_threads(count);
      check.same_bits(c.name + std::to_string(count) + " threads",
                      subject.multi_head(c.projections, c.x, 0).output, one);
    }
  });
}

// One of the five equalities of bits.
Theorem same_bits_theorem(std::string id, std::string statement, std::string operands,
                          const Sizes& sizes, const Sizes& least, decltype(Theorem::check) check) {
  return {.id = std::move(id),
          .statement = std::move(statement),
          .operands = "x (B, T, H d); H_kv H, H/2, 1" + std::move(operands),
          .sizes = sizes,
          .least = least,
          .scope = Scope::multi_head,
          .check = std::move(check)};
}

constexpr Sizes kLeast = {.batch = 1, .heads = 1, .tokens = 1, .width = 1};

}  // namespace

std::vector<Theorem> equality_theorems() {
  return {
      {.id = "permutation",
       .statement = "Without a mask, attention is permutation-equivariant in its rows, with or "
                    "without positions; the map from tokens to rows no longer is once it adds "
                    "positions",
       .operands = "x (T, d), no mask, four statements",
       .sizes = {.tokens = 8, .width = 16},
       .least = {.tokens = 2, .width = 16},
       .equality = Equality::rounding,
       .tolerance = 32,
       .check = permutation},
      {.id = "streaming",
       .statement = "Streaming attention, key by key, equals dense attention",
       .operands = "q, k (B, T, d), v (B, T, d/3)",
       .sizes = {.batch = 2, .tokens = 7, .width = 16},
       .least = {.batch = 1, .tokens = 1, .width = 1},
       .equality = Equality::rounding,
       .tolerance = 32,
       .check = streaming},
      {.id = "fused",
       .statement = "Blockwise attention equals dense attention",
       .operands = "q, k, v (B, t, d), t = 1, T/4 + 1, T",
       .sizes = {.batch = 2, .tokens = 65, .width = 16},
       .least = {.batch = 1, .tokens = 1, .width = 1},
       .equality = Equality::rounding,
       .tolerance = 32,
       .scope = Scope::once,
       .check = fused},
      same_bits_theorem("heads",
                        "Multi-head attention equals its heads, concatenated and projected", "",
                        {.batch = 2, .heads = 4, .tokens = 7, .width = 4}, kLeast, concatenated),
      same_bits_theorem("cache", "Decoding through the cache, in any pieces, equals the full pass",
                        "; one by one, in halves, T-2 then 1 and 1",
                        {.batch = 1, .heads = 4, .tokens = 40, .width = 16}, kLeast, cached),
      same_bits_theorem("prefix", "The first t outputs are those of the first t tokens alone",
                        "; t = 1, T/2, T-1", {.batch = 2, .heads = 4, .tokens = 17, .width = 4},
                        {.batch = 1, .heads = 1, .tokens = 2, .width = 1}, prefix),
      same_bits_theorem("batch", "A sequence has the same output alone as in a batch", "",
                        {.batch = 3, .heads = 4, .tokens = 7, .width = 4}, kLeast, batch),
      same_bits_theorem("threads", "The number of threads changes no bit", "; 1, 2, 3, 8 threads",
                        {.batch = 2, .heads = 2, .tokens = 129, .width = 32}, kLeast, threads),
  };
}

}  // namespace lookback::tools
