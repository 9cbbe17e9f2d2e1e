#include "sennit/fiber/stack_allocator.hpp"

#include <new>

#include "sennit/base/assert.hpp"

namespace sennit::fiber {
namespace {

constexpr std::size_t alignment = 64;  // What stack tops need, and a cache line.

}  // namespace

Result<std::size_t> MallocStacks::allocate(std::size_t usable_bytes, std::span<std::byte*> room) {
  void* const low = ::operator new(usable_bytes, std::align_val_t{alignment}, std::nothrow);
  if (low == nullptr) return failure(Errc::out_of_memory, "allocate a fiber stack");
  room[0] = static_cast<std::byte*>(low);
  return 1;
}

void MallocStacks::deallocate(std::size_t /*usable_bytes*/,
                              std::span<std::byte* const> stacks) noexcept {
  for (std::byte* const low : stacks) ::operator delete(low, std::align_val_t{alignment});
}

CallerStacks::CallerStacks(std::span<std::byte> memory, std::size_t usable_bytes)
    : usable_bytes_(usable_bytes) {
  SENNIT_ASSERT(usable_bytes > 0);
  const auto misplaced = reinterpret_cast<std::uintptr_t>(memory.data()) % alignment;
  const std::size_t skipped = misplaced == 0 ? 0 : alignment - misplaced;
  if (skipped > memory.size()) return;
  const std::size_t stride = (usable_bytes + alignment - 1) / alignment * alignment;
  const std::size_t count = (memory.size() - skipped) / stride;
  free_.reserve(count);
  for (std::size_t i = count; i > 0; --i) {
    free_.push_back(memory.data() + skipped + (i - 1) * stride);
  }
}

Result<std::size_t> CallerStacks::allocate(std::size_t usable_bytes, std::span<std::byte*> room) {
  const std::lock_guard lock(mutex_);
  if (usable_bytes != usable_bytes_ || free_.empty()) {
    return failure(Errc::limit_reached, "cut a fiber stack from the caller's memory");
  }
  room[0] = free_.back();
  free_.pop_back();
  return 1;
}

void CallerStacks::deallocate(std::size_t /*usable_bytes*/,
                              std::span<std::byte* const> stacks) noexcept {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), stacks.begin(), stacks.end());  // Within what was reserved.
}

}  // namespace sennit::fiber
