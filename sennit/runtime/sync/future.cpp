#include "sennit/runtime/sync/future.hpp"

namespace sennit::runtime::detail {

bool FutureWord::start(Waiter& waiter) {
  void* expected = nullptr;
  // Release pairs with the acquire of finish(), which wakes the waiter; on failure acquire pairs
  // with its release, as the result is then read.
  if (word_.compare_exchange_strong(expected, &waiter, std::memory_order_release,
                                    std::memory_order_acquire)) {
    return true;
  }
  SENNIT_ASSERT(expected == this && "a Future has one waiter at a time");
  return false;
}

void FutureWord::cancel(Waiter& waiter) {
  void* expected = &waiter;
  // Relaxed: we are on the waiter's side and hand nothing over; take() looks at the word again.
  if (word_.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed,
                                    std::memory_order_relaxed)) {
    waiter.hand_over();
  }
}

void FutureWord::finish() {
  // Release pairs with the acquire of is_done() and start(); acquire with the release of start().
  void* const found = word_.exchange(this, std::memory_order_acq_rel);
  if (found != nullptr) static_cast<Waiter*>(found)->hand_over();
}

bool FutureWord::let_go() {
  // Release pairs with the acquire of the other holder's, who destroys it: our uses come before.
  return holders_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

}  // namespace sennit::runtime::detail
