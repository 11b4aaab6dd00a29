#include "engine/kernels/attention_problem.h"

#include <algorithm>
#include <memory>
#include <new>

namespace lookback::kernels {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
};

struct Memory {
  std::unique_ptr<std::byte, Free> data;
  size_t size = 0;
};

}  // namespace

std::byte* thread_scratch(Scratch kind, size_t bytes) {
  static thread_local Memory memory[2];
  Memory& m = memory[static_cast<size_t>(kind)];
  if (m.size < bytes) {
    m.data.reset();  // first, so that the old and the new never exist together
    m.size = 0;
    m.data.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    m.size = bytes;
  }
  return m.data.get();
}

}  // namespace lookback::kernels
