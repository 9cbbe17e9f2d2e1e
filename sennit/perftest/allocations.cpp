#include "sennit/perftest/allocations.hpp"

#include <atomic>
#include <cstdlib>

namespace sennit::perftest {
namespace {

// One count for the whole program. Sequentially consistent: counting is rare, and never timed.
bool counting_is_linked = false;
std::atomic<bool> counting = false;
std::atomic<std::uint64_t> allocation_count = 0;
std::atomic<std::uint64_t> allocation_bytes = 0;

}  // namespace

bool allocations_are_counted() { return counting_is_linked; }

void start_counting_allocations() {
  allocation_count = 0;
  allocation_bytes = 0;
  counting = true;
}

Allocations stop_counting_allocations() {
  counting = false;
  return {.count = allocation_count, .bytes = allocation_bytes};
}

namespace detail {

void* counted_allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (counting) [[unlikely]] {
    ++allocation_count;
    allocation_bytes += bytes;
  }
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void counted_free(void* memory) noexcept { std::free(memory); }

bool announce_counting() { return counting_is_linked = true; }

}  // namespace detail
}  // namespace sennit::perftest
