#pragma once
// Letting time pass: sleep_for, sleep_until and yield, as `wait(...)` or `co_await ...`.

#include <cstdint>

#include "sennit/base/time.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

/// Awaitable; its result is nothing. Never short of its instant; late by a fraction of 100 us.
class Sleep {
 public:
  explicit Sleep(TimePoint until);
  explicit Sleep(Duration delay);
  bool ready() { return false; }
  bool start(Waiter& waiter);
  void take() {}

 private:
  struct WakingTimer : Timer {
    WakingTimer();
    Waiter* waiter = nullptr;
  };
  TimePoint until_;
  Duration delay_;  // Counts from start(); unused if negative.
  WakingTimer timer_;
};

/// Counts from when it is waited for. Zero or less gives way once, as yield().
[[nodiscard]] inline Sleep sleep_for(Duration delay) { return Sleep(delay); }
/// An instant already past gives way once, as yield().
[[nodiscard]] inline Sleep sleep_until(TimePoint instant) { return Sleep(instant); }

/// Awaitable: lets everything else that is ready go first.
class Yield {
 public:
  bool ready() { return false; }
  bool start(Waiter& waiter) {
    waiter.wake();
    return true;
  }
  void take() {}
};
[[nodiscard]] inline Yield yield() { return {}; }

/// Uniform between the two, both included, from the worker's random numbers.
[[nodiscard]] Duration random_ms(std::int64_t low, std::int64_t high);

}  // namespace sennit::runtime

namespace sennit {
using runtime::random_ms;
using runtime::sleep_for;
using runtime::sleep_until;
using runtime::yield;
}  // namespace sennit
