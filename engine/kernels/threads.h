// Threads for kernels: one parallel loop with a static partition, and nothing else.
//
// No result may depend on the number of threads (DESIGN: same bits). The rule that makes it so:
// every output element is computed by exactly one call of the body, in an order that the
// partition cannot change. Thread-safe; nested loops run on the calling thread.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lookback {

// Threads that parallel loops use; at first OMP_NUM_THREADS, or the cores of the machine.
int num_threads();

// Sets the number of threads; REQUIRES: count >= 1. Throws std::invalid_argument.
void set_num_threads(int count);

namespace kernels {

namespace detail {
using RangeFunction = void (*)(const void* body, int64_t begin, int64_t end);
void parallel_ranges(int64_t count, int64_t grain, RangeFunction run, const void* body);
}  // namespace detail

// Calls body(begin, end) on disjoint ranges that cover [0, count), each of at least `grain`
// iterations (the last may be shorter), on at most num_threads() threads. A count of at most
// `grain` runs on the calling thread, without touching the thread pool. The body must not throw.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  detail::parallel_ranges(
      count, grain,
      [](const void* b, int64_t begin, int64_t end) { (*static_cast<const Body*>(b))(begin, end); },
      &body);
}

}  // namespace kernels
}  // namespace lookback
