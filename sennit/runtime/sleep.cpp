#include "sennit/runtime/sleep.hpp"

#include <algorithm>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

Sleep::Sleep(TimePoint until) : until_(until), delay_(Duration(-1)) {}
Sleep::Sleep(Duration delay) : delay_(std::max(delay, Duration::zero())) {}

Sleep::WakingTimer::WakingTimer()
    : Timer([](Timer& timer) { static_cast<WakingTimer&>(timer).waiter->wake(); }) {}

bool Sleep::start(Waiter& waiter) {
  Worker& worker = waiter.worker();
  is_cancelled_ = false;
  if (delay_ > Duration::zero()) until_ = Deadline::after(delay_, worker.clock()).instant();
  // This turn's time will do: what it calls past is past, and the timer judges the rest.
  gives_way_ = delay_ == Duration::zero() || until_ <= worker.now();
  if (gives_way_) {
    waiter.wake();
    return true;
  }
  timer_.waiter = &waiter;
  worker.timers().arm(timer_, until_);
  return true;
}

void Sleep::cancel() {
  if (timer_.is_armed()) {
    timer_.disarm();
    timer_.waiter->wake();
    is_cancelled_ = true;
  } else if (gives_way_) {
    is_cancelled_ = true;  // So that a loop around it learns of it.
  }
}

Result<void> Sleep::take() {
  if (is_cancelled_) return failure(Errc::cancelled, "sleep");
  return {};
}

Duration random_ms(std::int64_t low, std::int64_t high) {
  Worker* const worker = Worker::current();
  SENNIT_ASSERT(worker != nullptr && "random_ms() draws from a worker's random numbers");
  return std::chrono::milliseconds(worker->random().between(low, high));
}

}  // namespace sennit::runtime
