#include "sennit/runtime/sync/event.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::WaitNode;
using detail::WaitState;

Event::~Event() {
  SENNIT_ASSERT(queue_.empty() && "an Event is destroyed while somebody waits for it");
}

void Event::set() {
  detail::WakeList woken;
  (void)word_.lock();
  woken.move_all(queue_, WaitState::granted);
  word_.unlock(set_bit);
  woken.wake();
}

void Event::reset() {
  (void)word_.lock();
  word_.unlock(0);
}

bool Event::enqueue(WaitNode& node, Waiter& waiter) {
  const auto bits = word_.lock();
  const bool waits = (bits & set_bit) == 0;
  if (waits) {
    queue_.push(node, waiter);
  } else {
    node.state = WaitState::granted;
  }
  word_.unlock(bits);
  return waits;
}

void Event::cancel(WaitNode& node) {
  const auto bits = word_.lock();
  const bool left = queue_.cancel(node);
  word_.unlock(bits);
  if (left) node.waiter->hand_over();
}

}  // namespace sennit::runtime
