#pragma once
// SlabStacks: guarded stacks, many in one mapping.
//
//   +-------+--------------+-------+--------------+-------+--------------+
//   | guard | usable bytes | guard | usable bytes | guard | usable bytes | ...   one slab
//   +-------+--------------+-------+--------------+-------+--------------+
//   <------- stride ------->  an odd number of pages, so that neighbours use other sets of a cache
//
// A stack that runs over faults on its guard instead of writing over its neighbour. Guards are
// light where the kernel has them (MADV_GUARD_INSTALL, Linux 6.13): a slab is one mapping then.
// Elsewhere mprotect makes them, at two mappings a stack of the 65,530 that a process may have.
// Slabs grow with what is in use, up to slab_stacks_max. New stacks are guarded, and the page that
// every fiber touches first is filled, in one system call each for as many as were asked for. A
// stack that comes back loses its pages, and a slab whose stacks are all back is unmapped.
//
// Addresses are reserved, not memory; a page costs memory from its first touch on. Transparent huge
// pages are kept off, as one would make each stack's first touch cost 64 KiB; with `huge_pages`
// they are asked for, in slabs of whole huge pages, and there is no guard then, which would split
// them.
//
// Thread safety: any thread.

#include <cstddef>
#include <map>
#include <mutex>

#include "sennit/fiber/stack_allocator.hpp"

namespace sennit::fiber {

class SlabStacks final : public StackAllocator {
 public:
  struct Options {
    std::size_t slab_stacks_max = 1024;  // 1: each stack is a mapping of its own.
    bool huge_pages = false;             // For many stacks of a few KiB. No guards.
    bool fills_first_pages = true;       // Of new stacks, where several are made together.
  };

  SlabStacks();
  explicit SlabStacks(Options options);
  ~SlabStacks() override;  // Requires that every stack has been given back.

  /// Errors: out_of_memory when the kernel refuses the memory or a guard.
  Result<std::size_t> allocate(std::size_t usable_bytes, std::span<std::byte*> room) override;
  void deallocate(std::size_t usable_bytes, std::span<std::byte* const> stacks) noexcept override;

  [[nodiscard]] std::size_t slab_count() const;

 private:
  class Slab;
  Result<Slab*> slab_with_room(std::size_t usable_bytes);

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::byte*, std::unique_ptr<Slab>> slabs_;  // By where they begin.
};

}  // namespace sennit::fiber
