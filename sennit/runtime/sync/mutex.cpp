#include "sennit/runtime/sync/mutex.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::WaitNode;
using detail::WaitState;

Mutex::~Mutex() {
  SENNIT_ASSERT(queue_.empty() && "a Mutex is destroyed while somebody waits for it");
  SENNIT_ASSERT((word_.peek() & held) == 0 && "a Mutex is destroyed while it is locked");
}

bool Mutex::enqueue(WaitNode& node, Waiter& waiter) {
  const auto bits = word_.lock();
  if ((bits & held) == 0) {
    node.state = WaitState::granted;
    publish(true);
    return false;
  }
  queue_.push(node, waiter);
  publish(true);
  return true;
}

void Mutex::unlock_contended() {
  const auto bits = word_.lock();
  if (queue_.empty()) {
    word_.unlock(0);
    SENNIT_ASSERT((bits & held) != 0 && "a Mutex is unlocked that is not locked");
    return;
  }
  WaitNode& next = queue_.pop(WaitState::granted);
  publish(true);
  next.waiter->hand_over();
}

Result<MutexGuard> Mutex::Lock::take() {
  if (auto locked = detail::outcome(node_, "lock a mutex"); !locked) {
    return failure(std::move(locked).error());
  }
  return MutexGuard(*mutex_);
}

void Mutex::Lock::cancel() {
  const auto bits = mutex_->word_.lock();
  const bool left = mutex_->queue_.cancel(node_);
  mutex_->publish((bits & held) != 0);
  if (left) node_.waiter->hand_over();
}

}  // namespace sennit::runtime
