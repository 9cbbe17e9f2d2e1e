#include "sennit/runtime/sync/semaphore.hpp"

namespace sennit::runtime {

using detail::LockWord;
using detail::WaitState;

Semaphore::Semaphore(std::uint64_t permits) : word_(permits << permit_shift) {
  SENNIT_ASSERT(permits <= permits_max, permits);
}

Semaphore::~Semaphore() {
  SENNIT_ASSERT(queue_.empty() && "a Semaphore is destroyed while somebody waits for it");
}

bool Semaphore::try_acquire(std::uint64_t permits) {
  for (;;) {
    const auto bits = word_.peek();
    // Locked: somebody gives or queues; who waits in line behind has nothing to try.
    if ((bits & (LockWord::locked | queued)) != 0 || bits >> permit_shift < permits) return false;
    if (word_.try_change(bits, bits - (permits << permit_shift))) return true;
  }
}

bool Semaphore::enqueue(Acquire::Node& node, Waiter& waiter) {
  const auto bits = word_.lock();
  if (queue_.empty() && bits >> permit_shift >= node.permits) {
    node.state = WaitState::granted;
    word_.unlock(bits - (node.permits << permit_shift));
    return false;
  }
  queue_.push(node, waiter);
  word_.unlock(bits | queued);
  return true;
}

void Semaphore::release(std::uint64_t permits) {
  for (;;) {
    const auto bits = word_.peek();
    if ((bits & (LockWord::locked | queued)) != 0) break;
    SENNIT_ASSERT(permits <= permits_max - (bits >> permit_shift), permits);
    if (word_.try_change(bits, bits + (permits << permit_shift))) return;
  }
  const auto bits = word_.lock();
  SENNIT_ASSERT(permits <= permits_max - (bits >> permit_shift), permits);
  serve((bits >> permit_shift) + permits);
}

void Semaphore::cancel(Acquire::Node& node) {
  const auto bits = word_.lock();
  const bool left = queue_.cancel(node);
  serve(bits >> permit_shift);  // Those behind may have enough.
  if (left) node.waiter->hand_over();
}

// With the lock: gives to the first ones as far as the permits go, unlocks, and wakes them.
void Semaphore::serve(std::uint64_t permits) {
  detail::WakeList woken;
  while (!queue_.empty()) {
    auto& first = static_cast<Acquire::Node&>(queue_.front());
    if (first.permits > permits) break;
    permits -= first.permits;
    woken.add(queue_.pop(WaitState::granted));
  }
  word_.unlock((permits << permit_shift) | (queue_.empty() ? 0 : queued));
  woken.wake();
}

}  // namespace sennit::runtime
