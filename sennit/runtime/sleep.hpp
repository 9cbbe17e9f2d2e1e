#pragma once
// Letting time pass: sleep_for, sleep_until and yield, as `wait(...)` or `co_await ...`.

#include <cstdint>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

/// Awaitable, Result<void>. Never short of its instant; late by a fraction of 100 us.
/// Errors: cancelled.
class Sleep {
 public:
  static constexpr const char* waits_for = "time to pass";

  explicit Sleep(TimePoint until);
  explicit Sleep(Duration delay);
  Sleep(Sleep&& other) noexcept : until_(other.until_), delay_(other.delay_) {}  // Before start().
  bool ready() { return false; }
  bool start(Waiter& waiter);
  void cancel();
  Result<void> take();

 private:
  struct WakingTimer : Timer {
    WakingTimer();
    Waiter* waiter = nullptr;
  };
  TimePoint until_;
  Duration delay_;  // Counts from start(); unused if negative.
  WakingTimer timer_;
  bool gives_way_ = false;
  bool is_cancelled_ = false;
};

/// Counts from when it is waited for. Zero or less gives way once, as yield().
[[nodiscard]] inline Sleep sleep_for(Duration delay) { return Sleep(delay); }
/// An instant already past gives way once, as yield().
[[nodiscard]] inline Sleep sleep_until(TimePoint instant) { return Sleep(instant); }

/// Awaitable, Result<void>: lets everything else that is ready go first.
/// Errors: cancelled.
class Yield {
 public:
  static constexpr const char* waits_for = "its turn";

  bool ready() { return false; }
  bool start(Waiter& waiter) {
    is_cancelled_ = false;
    waiter.wake();
    return true;
  }
  void cancel() { is_cancelled_ = true; }
  Result<void> take() {
    if (is_cancelled_) [[unlikely]]
      return failure(Errc::cancelled, "yield");
    return {};
  }

 private:
  bool is_cancelled_ = false;
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
