#include "engine/kernels/threads.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#ifndef LOOKBACK_STD_THREADS
#include <omp.h>
#endif

namespace lookback {
namespace {

int initial_threads() {
#ifdef LOOKBACK_STD_THREADS
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
#else
  return std::max(1, omp_get_max_threads());
#endif
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count{initial_threads()};
  return count;
}

// True while this thread runs a parallel body: a nested loop then stays on it.
thread_local bool inside_parallel = false;

struct InsideParallel {
  InsideParallel() { inside_parallel = true; }
  ~InsideParallel() { inside_parallel = false; }
};

}  // namespace

int num_threads() { return thread_count().load(std::memory_order_relaxed); }

void set_num_threads(int count) {
  if (count < 1) {
    throw std::invalid_argument("[set_num_threads] count must be at least 1; got " +
                                std::to_string(count));
  }
  thread_count().store(count, std::memory_order_relaxed);
}

namespace kernels::detail {

void parallel_ranges(int64_t count, int64_t grain, RangeFunction run, const void* body) {
  if (count <= 0) return;
  const int64_t pieces =
      std::min<int64_t>(num_threads(), (count + grain - 1) / std::max<int64_t>(grain, 1));
  if (pieces <= 1 || inside_parallel) {
    run(body, 0, count);
    return;
  }
  const auto piece = [=](int64_t p) {
    const InsideParallel guard;
    run(body, count * p / pieces, count * (p + 1) / pieces);
  };
#ifdef LOOKBACK_STD_THREADS
  // The plain twin: ThreadSanitizer understands std::thread, not every OpenMP run-time.
  std::vector<std::thread> workers;
  for (int64_t p = 1; p < pieces; ++p) workers.emplace_back(piece, p);
  piece(0);
  for (std::thread& worker : workers) worker.join();
#else
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(pieces))
  for (int64_t p = 0; p < pieces; ++p) piece(p);
#endif
}

}  // namespace kernels::detail
}  // namespace lookback
