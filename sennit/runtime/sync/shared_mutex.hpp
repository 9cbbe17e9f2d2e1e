#pragma once
// SharedMutex: many readers or one writer, for fibers, coroutines and plain threads.
//
//   const auto guard = wait(mutex.lock_shared());     // or co_await; lock() to write
//   if (!guard) return failure(guard.error());        // only ever cancelled
//
// First come, first served: while anybody waits, newcomers queue up behind, so that neither a
// stream of readers starves a writer nor the reverse. Readers that are next to each other in the
// queue go in together.
//
// Thread safety: all of it. Unlocking what is not locked so, and destroying a SharedMutex that is
// locked or waited for, stop the program. Who reads must not lock to read again: with a writer
// waiting in between it would wait for itself.

#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class SharedMutex {
 public:
  SharedMutex() = default;
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  /// Holds the lock, in whichever way it was got, and gives it back when destroyed.
  class [[nodiscard]] Guard {
   public:
    Guard(Guard&& other) noexcept
        : mutex_(std::exchange(other.mutex_, nullptr)), is_shared_(other.is_shared_) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (mutex_ != nullptr) unlock();
    }
    /// Early; once.
    void unlock();

   private:
    friend class SharedMutex;
    Guard(SharedMutex& mutex, bool is_shared) : mutex_(&mutex), is_shared_(is_shared) {}
    SharedMutex* mutex_;  // Null once unlocked or moved from.
    bool is_shared_;
  };

  /// Awaitable: Result<Guard>. Suspends until the lock is ours. Errors: cancelled, without it.
  class Lock {
   public:
    static constexpr const char* waits_for = "a shared mutex";

    Lock(SharedMutex& mutex, bool is_shared) : mutex_(&mutex) { node_.is_shared = is_shared; }
    bool ready() {
      if (!(node_.is_shared ? mutex_->try_lock_shared() : mutex_->try_lock())) return false;
      node_.state = detail::WaitState::granted;
      return true;
    }
    bool start(Waiter& waiter) { return mutex_->enqueue(node_, waiter); }
    Result<Guard> take();
    void cancel() { mutex_->cancel(node_); }

   private:
    friend class SharedMutex;
    struct Node : detail::WaitNode {
      bool is_shared = false;
    };
    SharedMutex* mutex_;
    Node node_;
  };
  [[nodiscard]] Lock lock() { return Lock(*this, false); }
  [[nodiscard]] Lock lock_shared() { return Lock(*this, true); }
  [[nodiscard]] bool try_lock() { return word_.try_change(0, writer); }
  /// False also if somebody waits.
  [[nodiscard]] bool try_lock_shared();
  void unlock();
  void unlock_shared();

 private:
  // The word: bit 0 the lock of the queue, bit 1 set exactly while the queue is not empty, bit 2 a
  // writer has it, above that the number of readers. With bit 1 clear, taking and letting go is one
  // exchange (LockWord's rule 2); with it set, the queue is served by who lets go last.
  using Bits = detail::LockWord::Bits;
  static constexpr Bits queued = 2, writer = 4, reader = 8;

  bool enqueue(Lock::Node& node, Waiter& waiter);
  void cancel(Lock::Node& node);
  void serve(Bits bits);

  detail::LockWord word_;
  detail::WaitList queue_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::SharedMutex;
}
