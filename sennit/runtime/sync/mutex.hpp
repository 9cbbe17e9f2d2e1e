#pragma once
// Mutex: one at a time, for fibers, coroutines and plain threads.
//
//   const auto guard = wait(mutex.lock());       // or co_await mutex.lock()
//   if (!guard) return failure(guard.error());   // only ever cancelled
//
// Who waits is served first come, first served, and is handed the lock by the one who unlocks:
// nobody else can take it in between, and nobody is woken in vain. Uncontended, locking and
// unlocking are one atomic exchange each.
//
// Thread safety: all of it. A lock belongs to no thread: whoever has it may unlock from anywhere.
// Unlocking what is not locked, and destroying a Mutex that is locked or waited for, stop the
// program.

#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class Mutex;

/// Holds a lock and gives it back when destroyed; the Mutex must outlive it.
class [[nodiscard]] MutexGuard {
 public:
  /// Takes over a lock that the caller has.
  explicit MutexGuard(Mutex& locked) : mutex_(&locked) {}
  MutexGuard(MutexGuard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  MutexGuard& operator=(MutexGuard&&) = delete;
  ~MutexGuard() {
    if (mutex_ != nullptr) unlock();
  }
  /// Early; once.
  void unlock();

 private:
  Mutex* mutex_;  // Null once unlocked or moved from.
};

class Mutex {
 public:
  Mutex() = default;
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// Awaitable: Result<MutexGuard>. Suspends until the lock is ours. Errors: cancelled, without it.
  class Lock {
   public:
    static constexpr const char* waits_for = "a mutex";

    explicit Lock(Mutex& mutex) : mutex_(&mutex) {}
    bool ready() {
      if (!mutex_->try_lock()) return false;
      node_.state = detail::WaitState::granted;
      return true;
    }
    bool start(Waiter& waiter) { return mutex_->enqueue(node_, waiter); }
    Result<MutexGuard> take();
    void cancel();

   private:
    Mutex* mutex_;
    detail::WaitNode node_;
  };
  [[nodiscard]] Lock lock() { return Lock(*this); }
  [[nodiscard]] bool try_lock() { return word_.try_change(0, held); }
  void unlock() {
    if (!word_.try_change(held, 0)) unlock_contended();
  }

 private:
  friend class ConditionVariable;
  // While nobody waits, the word alone tells whether it is locked (LockWord's rule 2). `queued` is
  // set exactly while the queue is not empty, and implies `held`: who unlocks then goes through the
  // queue, gives the lock to the first and leaves `held` as it is.
  static constexpr detail::LockWord::Bits held = 2, queued = 4;

  /// False if the lock is ours at once.
  bool enqueue(detail::WaitNode& node, Waiter& waiter);
  void unlock_contended();
  void publish(bool is_held) { word_.unlock((is_held ? held : 0) | (queue_.empty() ? 0 : queued)); }

  detail::LockWord word_;
  detail::WaitList queue_;
};

inline void MutexGuard::unlock() { std::exchange(mutex_, nullptr)->unlock(); }

}  // namespace sennit::runtime

namespace sennit {
using runtime::Mutex;
using runtime::MutexGuard;
}  // namespace sennit
