#pragma once
// Event: something that happens once for everybody who waits, until it is reset.
//
// Thread safety: all of it. What was written before set() is seen by who has waited. An Event may
// be destroyed by who knows that all who waited have gone on; destroying it with somebody waiting
// stops the program.

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class Event {
 public:
  Event() = default;
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Wakes all who wait; who waits later does not. Setting it again changes nothing.
  void set();
  /// From now on one has to wait again. Who was woken by set() goes on nevertheless.
  void reset();
  [[nodiscard]] bool is_set() const { return (word_.peek() & set_bit) != 0; }

  /// Awaitable: Result<void>. Suspends until it is set. Errors: cancelled.
  class Wait {
   public:
    static constexpr const char* waits_for = "an event";

    explicit Wait(Event& event) : event_(&event) {}
    bool ready() {
      if (!event_->is_set()) return false;
      node_.state = detail::WaitState::granted;
      return true;
    }
    bool start(Waiter& waiter) { return event_->enqueue(node_, waiter); }
    Result<void> take() { return detail::outcome(node_, "wait for an event"); }
    void cancel() { event_->cancel(node_); }

   private:
    Event* event_;
    detail::WaitNode node_;
  };
  [[nodiscard]] Wait wait() { return Wait(*this); }

 private:
  // Published by the store that unlocks (LockWord's rule 3), so that who sees it set may destroy
  // it.
  static constexpr detail::LockWord::Bits set_bit = 2;

  bool enqueue(detail::WaitNode& node, Waiter& waiter);
  void cancel(detail::WaitNode& node);

  detail::LockWord word_;
  detail::WaitList queue_;  // Empty while set.
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Event;
}
