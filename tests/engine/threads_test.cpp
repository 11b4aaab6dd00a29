// The threads layer: every index is visited exactly once, whatever the thread count.
#include "engine/kernels/threads.h"

#include <gtest/gtest.h>

#include <vector>

namespace lookback {
namespace {

TEST(Threads, VisitsEveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    std::vector<int> visits(1000, 0);
    kernels::parallel_for(1000, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
    });
    EXPECT_EQ(visits, std::vector<int>(1000, 1)) << threads << " threads";
  }
}

}  // namespace
}  // namespace lookback
