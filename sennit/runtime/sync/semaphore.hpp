#pragma once
// Semaphore: so many at a time, for fibers, coroutines and plain threads.
//
//   Semaphore room(10);
//   if (auto entered = wait(room.acquire()); !entered) return failure(entered.error());
//   ...
//   room.release();
//
// First come, first served: while somebody waits, newcomers wait behind, so that one who wants many
// permits is not starved by many who want one.
//
// Thread safety: all of it. Permits belong to nobody: anyone may release, also more than were
// acquired. Destroying a Semaphore that somebody waits for stops the program.

#include <cstdint>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class Semaphore {
 public:
  static constexpr std::uint64_t permits_max = std::uint64_t{1} << 61;

  /// Requires permits <= permits_max, here and in total after each release().
  explicit Semaphore(std::uint64_t permits);
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// Awaitable: Result<void>. Suspends until there are enough permits, and takes them all at once.
  /// Errors: cancelled, without having taken any.
  class Acquire {
   public:
    static constexpr const char* waits_for = "a semaphore";

    Acquire(Semaphore& semaphore, std::uint64_t permits) : semaphore_(&semaphore) {
      node_.permits = permits;
    }
    bool ready() {
      if (!semaphore_->try_acquire(node_.permits)) return false;
      node_.state = detail::WaitState::granted;
      return true;
    }
    bool start(Waiter& waiter) { return semaphore_->enqueue(node_, waiter); }
    Result<void> take() { return detail::outcome(node_, "acquire from a semaphore"); }
    void cancel() { semaphore_->cancel(node_); }

   private:
    friend class Semaphore;
    struct Node : detail::WaitNode {
      std::uint64_t permits = 1;
    };
    Semaphore* semaphore_;
    Node node_;
  };
  [[nodiscard]] Acquire acquire(std::uint64_t permits = 1) { return Acquire(*this, permits); }
  /// False if there are too few, or somebody waits.
  [[nodiscard]] bool try_acquire(std::uint64_t permits = 1);
  void release(std::uint64_t permits = 1);

  /// At some moment during the call.
  [[nodiscard]] std::uint64_t available() const { return word_.peek() >> permit_shift; }

 private:
  // The word: bit 0 the lock, bit 1 set exactly while the queue is not empty, the permits above.
  // With bit 1 clear, taking and giving is one exchange (LockWord's rule 2); with it set, permits
  // are given through the queue.
  static constexpr detail::LockWord::Bits queued = 2;
  static constexpr int permit_shift = 2;

  bool enqueue(Acquire::Node& node, Waiter& waiter);
  void cancel(Acquire::Node& node);
  void serve(std::uint64_t permits);

  detail::LockWord word_;
  detail::WaitList queue_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Semaphore;
}
