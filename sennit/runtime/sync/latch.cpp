#include "sennit/runtime/sync/latch.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

using detail::WaitNode;
using detail::WaitState;

Latch::Latch(std::uint64_t count) : word_(count << count_shift) {
  SENNIT_ASSERT(count < std::uint64_t{1} << 62, count);
}

Latch::~Latch() {
  SENNIT_ASSERT(queue_.empty() && "a Latch is destroyed while somebody waits for it");
}

void Latch::count_down(std::uint64_t by) {
  detail::WakeList woken;
  const auto bits = word_.lock();
  const std::uint64_t count = bits >> count_shift;
  SENNIT_ASSERT(by <= count && "a Latch is counted below zero", by, count);
  if (by == count) woken.move_all(queue_, WaitState::granted);
  word_.unlock((count - by) << count_shift);
  woken.wake();
}

bool Latch::enqueue(WaitNode& node, Waiter& waiter) {
  const auto bits = word_.lock();
  const bool waits = bits >> count_shift != 0;
  if (waits) {
    queue_.push(node, waiter);
  } else {
    node.state = WaitState::granted;
  }
  word_.unlock(bits);
  return waits;
}

void Latch::cancel(WaitNode& node) {
  const auto bits = word_.lock();
  const bool left = queue_.cancel(node);
  word_.unlock(bits);
  if (left) node.waiter->hand_over();
}

}  // namespace sennit::runtime
