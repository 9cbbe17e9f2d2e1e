#pragma once
// StackAllocator: where a StackPool gets its memory from.
//
//   SlabStacks     (slab_stacks.hpp) many guarded stacks in each mapping; what a pool uses unless
//                  told otherwise. With one stack a slab it is the plain guarded mmap, and with
//                  huge pages it is for very many small stacks
//   MallocStacks   operator new: no guard, no system call; for short-lived programs and tests
//   CallerStacks   memory of the caller, such as a static array: no guard
//
// One allocator may serve several pools, on several threads. Thread safety: any thread, unless an
// implementation says otherwise. Ownership: pools share the allocator; all its stacks must have
// been given back when it dies.

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sennit/base/result.hpp"

namespace sennit::fiber {

class StackAllocator {
 public:
  StackAllocator() = default;
  virtual ~StackAllocator() = default;
  StackAllocator(const StackAllocator&) = delete;
  StackAllocator& operator=(const StackAllocator&) = delete;

  /// Makes stacks of `usable_bytes`, a multiple of the page size, puts their low ends into `room`
  /// (not empty) and returns how many: at least 1, and as many as cost little together.
  ///
  /// Errors: out_of_memory; limit_reached where the allocator has a limit. Nothing was made then.
  [[nodiscard]] virtual Result<std::size_t> allocate(std::size_t usable_bytes,
                                                     std::span<std::byte*> room) = 0;
  /// Takes back stacks that this allocator made with the same `usable_bytes`.
  virtual void deallocate(std::size_t usable_bytes,
                          std::span<std::byte* const> stacks) noexcept = 0;
};

class MallocStacks final : public StackAllocator {
 public:
  Result<std::size_t> allocate(std::size_t usable_bytes, std::span<std::byte*> room) override;
  void deallocate(std::size_t usable_bytes, std::span<std::byte* const> stacks) noexcept override;
};

class CallerStacks final : public StackAllocator {
 public:
  /// Stacks of `usable_bytes` each are cut from `memory`, which must outlive this; a pool that asks
  /// for another size is refused with Errc::limit_reached, as it is when all are lent.
  CallerStacks(std::span<std::byte> memory, std::size_t usable_bytes);

  Result<std::size_t> allocate(std::size_t usable_bytes, std::span<std::byte*> room) override;
  void deallocate(std::size_t usable_bytes, std::span<std::byte* const> stacks) noexcept override;

 private:
  const std::size_t usable_bytes_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace sennit::fiber
