#include "sennit/runtime/sync/barrier.hpp"

#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::WaitNode;
using detail::WaitState;

Barrier::Barrier(std::uint64_t parties, std::function<void()> completed)
    : completed_(std::move(completed)), parties_(parties) {
  SENNIT_ASSERT(parties > 0 && "a Barrier needs parties");
}

Barrier::~Barrier() {
  SENNIT_ASSERT(queue_.empty() && "a Barrier is destroyed while somebody waits at it");
}

bool Barrier::arrive(WaitNode& node, Waiter& waiter) {
  (void)word_.lock();
  SENNIT_ASSERT(arrived_ < parties_ && "more arrive at a Barrier than it has parties", parties_);
  if (++arrived_ < parties_) {
    queue_.push(node, waiter);
    word_.unlock(0);
    return true;
  }
  word_.unlock(0);
  node.state = WaitState::granted;
  complete_round();
  return false;
}

void Barrier::arrive_and_drop() {
  (void)word_.lock();
  SENNIT_ASSERT(arrived_ < parties_ && "more leave a Barrier than it has parties", parties_);
  const bool is_last = arrived_ == --parties_;
  word_.unlock(0);
  if (is_last) complete_round();
}

// All of the round have arrived, and wait: until they are woken nobody else touches the barrier but
// to cancel, which comes too late as the round has no party missing.
void Barrier::complete_round() {
  if (completed_ != nullptr) completed_();
  detail::WakeList woken;
  (void)word_.lock();
  woken.move_all(queue_, WaitState::granted);
  arrived_ = 0;
  word_.unlock(0);
  woken.wake();
}

void Barrier::cancel(WaitNode& node) {
  (void)word_.lock();
  const bool left = arrived_ < parties_ && queue_.cancel(node);
  if (left) --arrived_;
  word_.unlock(0);
  if (left) node.waiter->hand_over();
}

}  // namespace sennit::runtime
