// Storage: the bytes that tensors and their views share, from a small caching allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookback {

// A block of 64-byte aligned memory. Owns it; shared by the tensor and all of its views.
// `version` counts in-place changes: a tensor saved for backward remembers it (node.h).
class Storage {
 public:
  explicit Storage(int64_t bytes);  // not initialised
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  uint64_t version() const { return version_; }
  void bump_version() { ++version_; }

 private:
  std::byte* data_;
  int64_t bytes_;
  uint64_t version_ = 0;
};

// What the allocator has done so far. Freed blocks are kept by size and handed out again: a
// training step asks for the same sizes every time. Thread-safe.
struct AllocatorStatistics {
  int64_t bytes_in_use = 0;  // in live storages
  int64_t peak_bytes = 0;    // the most that was in use at once, since reset_peak_bytes()
  int64_t bytes_cached = 0;  // freed, kept for the next request
  int64_t requests = 0;
  int64_t cache_hits = 0;  // requests served from kept blocks
};

AllocatorStatistics allocator_statistics();

// Starts a new peak measurement at the bytes in use now.
void reset_peak_bytes();

// Gives all kept blocks back to the system.
void empty_allocator_cache();

}  // namespace lookback
