#pragma once
// ConditionVariable: waits, without the lock, until what the lock protects has changed.
//
//   auto guard = wait(mutex.lock());
//   while (queue.empty()) {
//     if (auto woken = wait(changed.wait(mutex)); !woken) return failure(woken.error());
//   }
//
// No wake-up comes without a notify. Still, whoever got the lock in between may have changed things
// again, hence the loop. Who is notified is put into the mutex's queue, not woken to find it
// locked.
//
// Thread safety: all of it. Destroying one that somebody waits for stops the program.

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/sync/mutex.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class ConditionVariable {
 public:
  ConditionVariable() = default;
  ~ConditionVariable();
  ConditionVariable(const ConditionVariable&) = delete;
  ConditionVariable& operator=(const ConditionVariable&) = delete;

  /// Awaitable: Result<void>. Unlocks the mutex, which the caller has, and suspends until it is
  /// notified and has the mutex again. Errors: cancelled, with the mutex locked again too (for
  /// which it may have to wait). A notification that came first wins.
  class Wait {
   public:
    static constexpr const char* waits_for = "a condition";

    Wait(ConditionVariable& condition, Mutex& mutex) : condition_(&condition), mutex_(&mutex) {
      node_.wait = this;
    }
    Wait(Wait&& other) noexcept
        : condition_(other.condition_), mutex_(other.mutex_), node_(std::move(other.node_)) {
      node_.wait = this;
    }
    Wait& operator=(Wait&&) = delete;
    ~Wait() = default;
    bool ready() { return false; }
    bool start(Waiter& waiter);
    Result<void> take() { return detail::outcome(node_, "wait for a condition"); }
    void cancel();

   private:
    friend class ConditionVariable;
    struct Node : detail::WaitNode {
      Wait* wait = nullptr;
    };
    void lock_again();

    ConditionVariable* condition_;
    Mutex* mutex_;
    Node node_;                   // In the condition's queue.
    detail::WaitNode lock_node_;  // Afterwards, in the mutex's.
  };
  [[nodiscard]] Wait wait(Mutex& mutex) { return Wait(*this, mutex); }

  /// Wakes the one who has waited longest, if anybody waits. With or without the mutex.
  void notify_one();
  /// Wakes all who wait.
  void notify_all();

 private:
  detail::LockWord word_;  // Guards the queue.
  detail::WaitList queue_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::ConditionVariable;
}
