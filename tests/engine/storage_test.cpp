// The allocator: alignment, what it counts, and what it keeps.
#include "engine/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "engine/tensor.h"

// A request that is too large fails under the sanitizers as it does elsewhere, instead of ending
// the program.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace lookback {
namespace {

// The address sanitizer's build keeps no block: a kept one would hide a use after free.
bool keeps_blocks() {
  empty_allocator_cache();
  { const Storage block(1000); }
  return allocator_statistics().bytes_cached > 0;
}

TEST(Storage, IsAligned) {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 1 << 20}) {
    const Storage first(bytes);
    const Storage second(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % 64, 0U) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second.data()) % 64, 0U) << bytes;
    EXPECT_NE(first.data(), second.data()) << bytes;
    EXPECT_EQ(first.bytes(), bytes);
  }
}

// Every byte asked for can be written: the sanitizers would tell if a size class were too small.
TEST(Storage, EverySizeIsWritable) {
  for (int64_t bytes = 1; bytes < 5000; bytes += 7) {
    const Storage block(bytes);
    std::fill_n(block.data(), bytes, std::byte{0xff});
  }
}

TEST(Storage, CountsVersions) {
  Storage block(8);
  EXPECT_EQ(block.version(), 0U);
  block.bump_version();
  EXPECT_EQ(block.version(), 1U);
}

TEST(Allocator, CountsWhatIsInUse) {
  const AllocatorStatistics before = allocator_statistics();
  {
    const Storage block(1000);
    const AllocatorStatistics during = allocator_statistics();
    EXPECT_EQ(during.bytes_in_use - before.bytes_in_use, 1024);  // the size class
    EXPECT_EQ(during.requests - before.requests, 1);
  }
  EXPECT_EQ(allocator_statistics().bytes_in_use, before.bytes_in_use);
}

// At most a quarter is wasted.
TEST(Allocator, SizeClassesAreTight) {
  for (int64_t bytes = 64; bytes < (1 << 24); bytes = bytes * 9 / 8 + 1) {
    const int64_t before = allocator_statistics().bytes_in_use;
    const Storage block(bytes);
    const int64_t taken = allocator_statistics().bytes_in_use - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 4 + 64);
  }
}

TEST(Allocator, RemembersThePeak) {
  reset_peak_bytes();
  const int64_t start = allocator_statistics().bytes_in_use;
  EXPECT_EQ(allocator_statistics().peak_bytes, start);
  {
    const Storage a(4096);
    { const Storage b(8192); }
    const Storage c(4096);
  }
  EXPECT_EQ(allocator_statistics().peak_bytes - start, 4096 + 8192);
  reset_peak_bytes();
  EXPECT_EQ(allocator_statistics().peak_bytes, start);
}

TEST(Allocator, HandsAFreedBlockOutAgain) {
  if (!keeps_blocks()) {
    EXPECT_EQ(allocator_statistics().cache_hits, 0);
    return;
  }
  empty_allocator_cache();
  std::byte* address = nullptr;
  {
    const Storage block(5000);
    address = block.data();
  }
  const AllocatorStatistics kept = allocator_statistics();
  EXPECT_GE(kept.bytes_cached, 5000);
  const Storage again(4990);  // the same size class
  EXPECT_EQ(again.data(), address);
  const AllocatorStatistics after = allocator_statistics();
  EXPECT_EQ(after.cache_hits - kept.cache_hits, 1);
  EXPECT_EQ(after.bytes_cached, 0);
}

TEST(Allocator, NewestBlockFirst) {
  if (!keeps_blocks()) return;
  auto a = std::make_unique<Storage>(64);
  auto b = std::make_unique<Storage>(64);
  const std::byte* address_of_b = b->data();
  a.reset();
  b.reset();
  const Storage c(64);
  EXPECT_EQ(c.data(), address_of_b);  // still warm in the processor's cache
}

TEST(Allocator, GivesKeptBlocksBack) {
  { const Storage block(1 << 16); }
  empty_allocator_cache();
  EXPECT_EQ(allocator_statistics().bytes_cached, 0);
}

// A training loop asks for the same sizes every step: after the first, nothing new is needed.
TEST(Allocator, ALoopAllocatesOnce) {
  if (!keeps_blocks()) return;
  const auto step = [] {
    const Tensor a = zeros({10, 10});
    const Tensor b = a.clone();
    const Tensor c = zeros({33});
  };
  step();
  const AllocatorStatistics before = allocator_statistics();
  for (int i = 0; i < 10; ++i) step();
  const AllocatorStatistics after = allocator_statistics();
  EXPECT_EQ(after.cache_hits - before.cache_hits, after.requests - before.requests);
}

TEST(Allocator, AFailedRequestChangesNoCount) {
  reset_peak_bytes();
  const AllocatorStatistics before = allocator_statistics();
  EXPECT_THROW(Storage(int64_t{1} << 58), std::bad_alloc);
  const AllocatorStatistics after = allocator_statistics();
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.peak_bytes, before.peak_bytes);
  EXPECT_EQ(after.requests, before.requests);
}

TEST(Allocator, ServesManyThreads) {
  const int64_t before = allocator_statistics().bytes_in_use;
  const auto work = [] {
    for (int64_t i = 1; i < 500; ++i) {
      const Storage block(i * 16);
      block.data()[0] = std::byte{1};
      block.data()[i * 16 - 1] = std::byte{2};
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator_statistics().bytes_in_use, before);
}

}  // namespace
}  // namespace lookback
