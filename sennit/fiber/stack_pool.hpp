#pragma once
// Stacks for fibers: mapped once, lent many times, guarded against overflow.
//
//   low address                                       high address
//   +-------+------------------------------------------+
//   | guard |  usable_bytes           <-- grows down   |
//   +-------+------------------------------------------+
//           ^ memory().begin()                         ^ memory().end()
//
// A fiber that overruns its stack faults on the guard page instead of writing over its neighbour.
// A new stack costs a mapping, a guard and a page fault per page touched; a used one costs a
// vector pop, and the one returned last, whose top is most likely in cache, is lent first.
//
// Guards are lightweight where the kernel has them (MADV_GUARD_INSTALL, Linux 6.13), which does
// not split the mapping; elsewhere mprotect, at two of the process's 65,530 mappings a stack.
//
// Thread safety: none. Each worker owns a pool; a stack returns on the thread it was lent on.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sennit/base/result.hpp"

namespace sennit::fiber {

class StackPool;

/// A stack on loan. Destroying it returns the memory to its pool, which must still exist.
class Stack {
 public:
  Stack(Stack&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), memory_(std::exchange(other.memory_, {})) {}
  Stack& operator=(Stack&&) = delete;
  ~Stack();

  /// The usable bytes, without the guard page. What they hold is unspecified.
  [[nodiscard]] std::span<std::byte> memory() const { return memory_; }

 private:
  friend class StackPool;
  Stack(StackPool& pool, std::span<std::byte> memory) : pool_(&pool), memory_(memory) {}

  StackPool* pool_;  // Null once moved from.
  std::span<std::byte> memory_;
};

class StackPool {
 public:
  struct Options {
    std::size_t usable_bytes = 64 * 1024;  // Rounded up to whole pages.
    std::size_t on_loan_max = 30'000;      // Times 2 mappings stays below the kernel's 65,530.
    std::size_t idle_max = 1'000;          // Stacks returned beyond this are unmapped.
  };

  explicit StackPool(Options options);
  ~StackPool();  // Requires that every stack has been returned.
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// Lends an idle stack, or maps a new one.
  ///
  /// Errors: limit_reached when on_loan_max stacks are out; out_of_memory when the kernel
  /// refuses the mapping. Neither changes the pool.
  [[nodiscard]] Result<Stack> acquire();

  [[nodiscard]] std::size_t usable_bytes() const { return options_.usable_bytes; }
  [[nodiscard]] std::size_t on_loan_count() const { return on_loan_count_; }
  [[nodiscard]] std::size_t idle_count() const { return idle_.size(); }

 private:
  friend class Stack;
  void release(std::span<std::byte> memory) noexcept;

  const Options options_;
  std::size_t on_loan_count_ = 0;
  std::vector<std::span<std::byte>> idle_;  // Reserved to idle_max, so release never allocates.
};

}  // namespace sennit::fiber
