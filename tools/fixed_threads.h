// FixedThreads: as long as it lives, kernels use this many threads.
#pragma once

#include "engine/kernels/threads.h"

namespace lookback::tools {

class FixedThreads {
 public:
  explicit FixedThreads(int count) : before_(num_threads()) { set_num_threads(count); }
  ~FixedThreads() { set_num_threads(before_); }
  FixedThreads(const FixedThreads&) = delete;
  FixedThreads& operator=(const FixedThreads&) = delete;

 private:
  int before_;
};

}  // namespace lookback::tools
