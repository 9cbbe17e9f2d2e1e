#pragma once
// WaitNode and WaitList: the queue of those who wait for a synchronisation object.
//
// A node lives in the awaitable, so that waiting allocates nothing. It is in one of these states:
//
//   idle       nobody waits                      -> waiting (start), granted (start, at once)
//   waiting    in the object's queue             -> granted, closed (by whoever gives), cancelled
//   granted    its waiter has, or will be given, what it waited for; a wake-up is on its way
//   cancelled  it left the queue empty-handed; a wake-up is on its way
//   closed     the object will never grant it; a wake-up is on its way
//
// Every step out of `waiting` is taken once, under the object's lock, by the one who then wakes the
// waiter: giving and cancelling cannot both succeed, so nothing is given to someone who left.

#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime::detail {

enum class WaitState : unsigned char { idle, waiting, granted, cancelled, closed };

struct WaitNode : ListHook<WaitNode> {
  WaitNode() = default;
  /// An awaitable may be moved until it is started; its place in a queue may not.
  WaitNode(WaitNode&& other) noexcept : state(other.state) {
    SENNIT_ASSERT(state == WaitState::idle && "an awaitable is moved while it waits");
  }
  WaitNode& operator=(WaitNode&&) = delete;
  ~WaitNode() { SENNIT_ASSERT(!is_linked() && "an awaitable is destroyed while it waits"); }

  Waiter* waiter = nullptr;
  WaitState state = WaitState::idle;
};

/// First in, first out. Thread safety: none; guarded by the object's lock.
class WaitList {
 public:
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] WaitNode& front() { return nodes_.front(); }
  void push(WaitNode& node, Waiter& waiter) {
    node.waiter = &waiter;
    node.state = WaitState::waiting;
    nodes_.push_back(node);
  }
  /// Ends the first one's waiting; the caller wakes it after unlocking. Requires !empty().
  WaitNode& pop(WaitState state) {
    WaitNode& node = nodes_.pop_front();
    node.state = state;
    return node;
  }
  /// False if it waits no more: then its wake-up is on its way.
  bool cancel(WaitNode& node) {
    if (node.state != WaitState::waiting) return false;
    node.unlink();
    node.state = WaitState::cancelled;
    return true;
  }

 private:
  friend class WakeList;
  IntrusiveList<WaitNode> nodes_;
};

/// Those whose waiting has ended under the lock, to be woken after it.
class WakeList {
 public:
  void add(WaitNode& node) { nodes_.push_back(node); }
  void move_all(WaitList& from, WaitState state) {
    while (!from.empty()) add(from.pop(state));
  }
  /// A node may be gone as soon as its waiter is woken.
  void wake() {
    while (!nodes_.empty()) nodes_.pop_front().waiter->hand_over();
  }

 private:
  IntrusiveList<WaitNode> nodes_;
};

/// What take() of a primitive that gives nothing but its turn returns.
[[nodiscard]] Result<void> outcome(const WaitNode& node, const char* doing);

}  // namespace sennit::runtime::detail
