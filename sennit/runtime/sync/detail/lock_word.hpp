#pragma once
// LockWord: the state of a synchronisation object and the lock of its queue, in one word.
//
// Bit 0 is the lock, the other 63 belong to the object.
//
// 1. lock() sets bit 0 and returns the object's bits. Whoever has it owns the whole word, the queue
//    of waiters and the nodes in that queue, for some tens of nanoseconds: nothing is called, woken
//    or waited for meanwhile.
// 2. While bit 0 is clear, anyone may change the word with one try_change() that leaves it clear.
//    It fails while bit 0 is set, as `from` never contains it.
// 3. unlock(bits) publishes the new bits and clears bit 0 with one store, which is the last access
//    to the object: who sees these bits, or is woken afterwards, may destroy it.
//
// Whoever wants the lock spins for a moment and then gives its CPU away, since the one who has it
// may have been preempted.

#include <atomic>
#include <cstdint>

namespace sennit::runtime::detail {

class LockWord {
 public:
  using Bits = std::uint64_t;
  static constexpr Bits locked = 1;

  explicit LockWord(Bits bits = 0) : word_(bits) {}

  /// Bit 0 may be set in what it returns.
  [[nodiscard]] Bits peek() const {
    // Pairs with the release of unlock() and try_change(): who sees a bit sees what led to it.
    return word_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool try_change(Bits from, Bits to) {
    // Acquire pairs with the last unlock() or try_change(), release with the next lock(), peek() or
    // try_change(). On failure nothing is read, so relaxed.
    return word_.compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
  }

  [[nodiscard]] Bits lock() {
    // Only a guess; the exchange decides.
    Bits seen = word_.load(std::memory_order_relaxed) & ~locked;
    // Acquire pairs with the release of unlock() and try_change(). A failure is tried again.
    if (word_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire,
                                    std::memory_order_relaxed)) [[likely]] {
      return seen;
    }
    return lock_contended();
  }
  /// Requires the lock; `bits` without bit 0.
  void unlock(Bits bits) {
    // Pairs with the acquire of lock(), peek() and try_change().
    word_.store(bits, std::memory_order_release);
  }

 private:
  Bits lock_contended();
  std::atomic<Bits> word_;
};

}  // namespace sennit::runtime::detail
