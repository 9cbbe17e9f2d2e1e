#pragma once
// Which addresses are guards of stacks: what a signal handler can ask.
//
// A region is one mapping with stacks at equal distances, each [guard][usable bytes]. The list of
// regions is read in signal handlers, without a lock, while other threads change it:
//
//   1. nodes are only ever added to the list, at its head; they are never freed
//   2. a node whose `begin` is null is unused: who reuses it writes the rest first, `begin` last
//   3. a reader takes `begin` first; it asks only about memory whose owner uses it at that moment,
//      so the region that it looks for does not change meanwhile
//
// Thread safety: any thread; find() also in a signal handler.

#include <atomic>
#include <cstddef>
#include <optional>

namespace sennit::fiber::detail {

struct RegionShape {
  std::byte* begin;
  std::size_t bytes;
  std::size_t stride;       // From one stack to the next.
  std::size_t guard_bytes;  // At the low end of each stride.
  std::size_t usable_bytes;
};

class GuardedRegion {
 public:
  explicit GuardedRegion(const RegionShape& shape);
  ~GuardedRegion();
  GuardedRegion(GuardedRegion&& other) noexcept;
  GuardedRegion& operator=(GuardedRegion&&) = delete;

  struct Found {
    std::byte* low;  // Of the stack's usable bytes.
    std::size_t usable_bytes;
    bool is_guard;  // The address is in the guard, not in the stack.
  };
  /// The stack that the address belongs to, if it is one of ours.
  [[nodiscard]] static std::optional<Found> find(const void* address);

 private:
  struct Node;
  Node* node_;
};

}  // namespace sennit::fiber::detail
