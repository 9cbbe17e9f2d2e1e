#pragma once
// Latch: waits until something has been done a given number of times. For one use; see Barrier for
// rounds, and Scope for waiting until what one has started is done.
//
// Thread safety: all of it. Who has waited may destroy it. Counting below zero, and destroying it
// with somebody waiting, stop the program.

#include <cstdint>

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class Latch {
 public:
  /// Requires count < 2^62.
  explicit Latch(std::uint64_t count);
  ~Latch();
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;

  void count_down(std::uint64_t by = 1);
  /// How many are still missing.
  [[nodiscard]] std::uint64_t count() const { return word_.peek() >> count_shift; }

  /// Awaitable: Result<void>. Suspends until the count is zero. Errors: cancelled; what was counted
  /// down stays so.
  class Wait {
   public:
    static constexpr const char* waits_for = "a latch";

    explicit Wait(Latch& latch) : latch_(&latch) {}
    bool ready() {
      if (latch_->count() != 0) return false;
      node_.state = detail::WaitState::granted;
      return true;
    }
    bool start(Waiter& waiter) { return latch_->enqueue(node_, waiter); }
    Result<void> take() { return detail::outcome(node_, "wait for a latch"); }
    void cancel() { latch_->cancel(node_); }

   private:
    Latch* latch_;
    detail::WaitNode node_;
  };
  [[nodiscard]] Wait wait() { return Wait(*this); }

 private:
  // The count is in the word above the lock's bit, and becomes zero with the store that unlocks
  // (LockWord's rule 3), so that who sees zero may destroy the latch.
  static constexpr int count_shift = 1;

  bool enqueue(detail::WaitNode& node, Waiter& waiter);
  void cancel(detail::WaitNode& node);

  detail::LockWord word_;
  detail::WaitList queue_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Latch;
}
