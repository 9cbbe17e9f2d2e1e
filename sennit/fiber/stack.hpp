#pragma once
// A stack on loan: memory that a fiber runs on, and where it goes back to.
//
//   low address                                                  high address
//   +-------+---------------------------------------------+--------+
//   | guard |  usable bytes                 <-- grows down | colour |
//   +-------+---------------------------------------------+--------+
//           ^ memory().begin()                       top() ^        ^ memory().end()
//
// Where tops of stacks are all at the same place of their pages, they fight for the same few sets
// of the cache; so each top is lowered by another multiple of 64 bytes, its colour (stacks of 16
// KiB or more; at most 2 KiB).
//
// Thread safety: none. A stack returns on the thread it was lent on. Ownership: whoever lends the
// stack (a StackPool, or the caller of Stack::on) outlives it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace sennit::fiber {

/// Who lends stacks of one size and takes them back.
struct StackSource {
  using TakeBack = void (*)(StackSource& self, std::byte* low) noexcept;
  std::size_t usable_bytes;
  TakeBack take_back;
};

/// What a stack's top holds, above everything that runs on it.
struct alignas(64) StackTop {
  static constexpr std::size_t storage_bytes = 256;
  static constexpr std::uint64_t has_name = 0x6b636174732d6173;  // Any other value: no name.

  std::byte storage[storage_bytes];  // For the user.
  std::uint64_t mark;
  std::string_view name;  // Read by the reporter of stack overflows, if mark says so.
};

/// Where the stack [low, low + usable_bytes) has its StackTop.
[[nodiscard]] inline StackTop* stack_top(std::byte* low, std::size_t usable_bytes) {
  constexpr std::size_t coloured_bytes_min = 16 * 1024;
  constexpr std::uintptr_t colours = 32;
  const auto address = reinterpret_cast<std::uintptr_t>(low);
  const std::uintptr_t colour = usable_bytes >= coloured_bytes_min ? (address >> 12) % colours : 0;
  const std::uintptr_t end = (address + usable_bytes - colour * 64) & ~std::uintptr_t{63};
  return reinterpret_cast<StackTop*>(low + (end - address)) - 1;
}

class Stack {
 public:
  /// Fewer bytes than this hold no fiber.
  static constexpr std::size_t bytes_min = 2048;

  /// A stack on the caller's own memory, which must outlive it: no guard, no pool. The low end of
  /// the memory keeps a few bytes of administration. Requires bytes_min.
  [[nodiscard]] static Stack on(std::span<std::byte> memory);

  Stack(StackSource& source, std::byte* low) : source_(&source), low_(low) {}
  Stack(Stack&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)), low_(other.low_) {}
  Stack& operator=(Stack&&) = delete;
  ~Stack() {
    if (source_ != nullptr) source_->take_back(*source_, low_);
  }

  /// The usable bytes, without the guard. What they hold is unspecified.
  [[nodiscard]] std::span<std::byte> memory() const { return {low_, source_->usable_bytes}; }
  [[nodiscard]] StackTop* top() const { return stack_top(low_, source_->usable_bytes); }

  /// The most bytes of it that were ever in use since its pages came from the kernel, in whole
  /// pages, whoever used them. 0 if the kernel cannot tell. Pages that were swapped out may not
  /// count.
  [[nodiscard]] std::size_t used_bytes_max() const;

 private:
  StackSource* source_;  // Null once moved from.
  std::byte* low_;
};

}  // namespace sennit::fiber
