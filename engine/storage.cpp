#include "engine/storage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>

namespace lookback {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kMaxCachedBytes = int64_t{1} << 30;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCaching = false;  // a kept block would hide a use after free
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kCaching = false;
#else
constexpr bool kCaching = true;
#endif
#else
constexpr bool kCaching = true;
#endif

// Size classes are 64 * {4, 5, 6, 7} * 2^n bytes (and 64, 128, 192): at most 25 % is wasted.
struct SizeClass {
  size_t index;
  int64_t bytes;
};

SizeClass size_class(int64_t bytes) {
  const auto lines =
      static_cast<uint64_t>(std::max<int64_t>(1, (bytes + kAlignment - 1) / kAlignment));
  if (lines < 4) return {static_cast<size_t>(lines), static_cast<int64_t>(lines) * kAlignment};
  const int shift = static_cast<int>(std::bit_width(lines)) - 3;  // lines >> shift is 4 ... 7
  const uint64_t quarter = (lines + (uint64_t{1} << shift) - 1) >> shift;  // rounded up: 4 ... 8
  const uint64_t rounded = quarter << shift;
  const int exponent = static_cast<int>(std::bit_width(rounded)) - 3;
  const auto index = static_cast<size_t>(exponent) * 4 + static_cast<size_t>(rounded >> exponent);
  return {index, static_cast<int64_t>(rounded) * kAlignment};
}

class CachingAllocator {
 public:
  void* allocate(int64_t bytes) {
    const SizeClass size = size_class(bytes);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (Kept*& first = kept_[size.index]) {
        Kept* block = first;
        first = block->next;
        statistics_.bytes_cached -= size.bytes;
        ++statistics_.cache_hits;
        count_request(size.bytes);
        return block;
      }
    }
    void* block = from_system(size.bytes);
    const std::lock_guard<std::mutex> lock(mutex_);
    count_request(size.bytes);
    return block;
  }

  void free(void* block, int64_t bytes) noexcept {
    const SizeClass size = size_class(bytes);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      statistics_.bytes_in_use -= size.bytes;
      if (kCaching && statistics_.bytes_cached + size.bytes <= kMaxCachedBytes) {
        kept_[size.index] = new (block) Kept{kept_[size.index]};
        statistics_.bytes_cached += size.bytes;
        return;
      }
    }
    ::operator delete (block, std::align_val_t{kAlignment});
  }

  AllocatorStatistics statistics() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

  void reset_peak() {
    const std::lock_guard<std::mutex> lock(mutex_);
    statistics_.peak_bytes = statistics_.bytes_in_use;
  }

  void empty_cache() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Kept*& first : kept_) {
      while (first != nullptr) {
        Kept* block = first;
        first = block->next;
        ::operator delete (block, std::align_val_t{kAlignment});
      }
    }
    statistics_.bytes_cached = 0;
  }

 private:
  // A kept block holds the address of the next one of its size: keeping it needs no memory.
  struct Kept {
    Kept* next;
  };

  // What is kept may be just what is missing, so it is given back before giving up.
  void* from_system(int64_t bytes) {
    const auto size = static_cast<size_t>(bytes);
    void* block = ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
    if (block == nullptr) {
      empty_cache();
      block = ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
    }
    return block != nullptr ? block : throw std::bad_alloc();
  }

  void count_request(int64_t bytes) {
    ++statistics_.requests;
    statistics_.bytes_in_use += bytes;
    statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.bytes_in_use);
  }

  std::mutex mutex_;
  AllocatorStatistics statistics_;
  std::array<Kept*, 256> kept_{};
};

// Never destroyed: tensors with static lifetime may outlive every other object.
CachingAllocator& allocator() {
  static auto* instance = new CachingAllocator;
  return *instance;
}

}  // namespace

Storage::Storage(int64_t bytes)
    : data_(static_cast<std::byte*>(allocator().allocate(bytes))), bytes_(bytes) {}

Storage::~Storage() { allocator().free(data_, bytes_); }

AllocatorStatistics allocator_statistics() { return allocator().statistics(); }

void reset_peak_bytes() { allocator().reset_peak(); }

void empty_allocator_cache() { allocator().empty_cache(); }

}  // namespace lookback
