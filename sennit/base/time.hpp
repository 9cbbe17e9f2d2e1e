#pragma once
// Time as a parameter: a Clock to ask, and one Deadline type for every timeout.
//
// Nothing in the library asks the kernel for the time except through a Clock that it was given, so
// a test moves time by hand and a simulation makes it jump.
//
// Thread safety: RealClock any thread; ManualClock one thread; TimePoint and Deadline are values.

#include <chrono>

namespace sennit {

using Duration = std::chrono::nanoseconds;
/// Monotonic: never goes back, unaffected by changes of the wall clock.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// UTC, for people and protocols (an HTTP Date). May jump in both directions.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const = 0;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

/// The kernel's clocks.
class RealClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return std::chrono::steady_clock::now(); }
  [[nodiscard]] WallTime wall_now() const override { return std::chrono::system_clock::now(); }
};

/// A clock that moves only when told to. Starts at one second past both epochs.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override { return TimePoint(elapsed_); }
  [[nodiscard]] WallTime wall_now() const override { return WallTime(elapsed_ + wall_offset_); }

  void advance(Duration by) { elapsed_ += by; }
  /// Moves the wall clock alone, as an administrator or NTP would.
  void step_wall(Duration by) { wall_offset_ += by; }

 private:
  Duration elapsed_ = std::chrono::seconds(1);
  Duration wall_offset_ = Duration::zero();
};

/// The instant until which something may take; `never` unless set.
class Deadline {
 public:
  constexpr Deadline() = default;
  static constexpr Deadline never() { return Deadline(); }
  static constexpr Deadline at(TimePoint instant) { return Deadline(instant); }
  /// `timeout` from now. Negative is already expired; too far to represent is `never`.
  static Deadline after(Duration timeout, const Clock& clock) {
    const TimePoint now = clock.now();
    return timeout > TimePoint::max() - now ? never() : Deadline(now + timeout);
  }

  [[nodiscard]] constexpr bool is_never() const { return instant_ == TimePoint::max(); }
  [[nodiscard]] constexpr TimePoint instant() const { return instant_; }
  [[nodiscard]] constexpr bool expired(TimePoint now) const {
    return !is_never() && now >= instant_;
  }
  /// Zero once expired, Duration::max() for `never`.
  [[nodiscard]] constexpr Duration remaining(TimePoint now) const {
    if (is_never()) return Duration::max();
    return now >= instant_ ? Duration::zero() : instant_ - now;
  }

  /// Orders by instant; `never` is last, so std::min gives the stricter of two.
  constexpr auto operator<=>(const Deadline&) const = default;

 private:
  explicit constexpr Deadline(TimePoint instant) : instant_(instant) {}
  TimePoint instant_ = TimePoint::max();
};

}  // namespace sennit
