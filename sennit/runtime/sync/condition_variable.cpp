#include "sennit/runtime/sync/condition_variable.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::WaitState;

ConditionVariable::~ConditionVariable() {
  SENNIT_ASSERT(queue_.empty() && "a ConditionVariable is destroyed while somebody waits for it");
}

// In the queue first: who locks the mutex from now on, and then notifies, finds us there.
bool ConditionVariable::Wait::start(Waiter& waiter) {
  (void)condition_->word_.lock();
  condition_->queue_.push(node_, waiter);
  condition_->word_.unlock(0);
  mutex_->unlock();
  return true;
}

void ConditionVariable::Wait::cancel() {
  (void)condition_->word_.lock();
  const bool left = condition_->queue_.cancel(node_);
  condition_->word_.unlock(0);
  if (left) lock_again();
}

// By the one who took it out of the condition's queue; it may be gone as soon as it is woken.
void ConditionVariable::Wait::lock_again() {
  Waiter& waiter = *node_.waiter;
  if (!mutex_->enqueue(lock_node_, waiter)) waiter.hand_over();
}

void ConditionVariable::notify_one() {
  (void)word_.lock();
  Wait* const first =
      queue_.empty() ? nullptr : static_cast<Wait::Node&>(queue_.pop(WaitState::granted)).wait;
  word_.unlock(0);
  if (first != nullptr) first->lock_again();
}

void ConditionVariable::notify_all() {
  IntrusiveList<detail::WaitNode> all;
  (void)word_.lock();
  while (!queue_.empty()) all.push_back(queue_.pop(WaitState::granted));
  word_.unlock(0);
  while (!all.empty()) static_cast<Wait::Node&>(all.pop_front()).wait->lock_again();
}

}  // namespace sennit::runtime
