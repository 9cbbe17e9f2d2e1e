#pragma once
// Timers: millions armed, each armed and cancelled in constant time.
//
// A hierarchical wheel (Varghese and Lauck 1987): 8 levels of 64 slots; a tick is 2^16 ns (65.5 us)
// and a slot of level n spans 64^n ticks. A timer sits in the lowest level whose span holds its
// distance and moves down as time reaches its slot, at most 7 times in its life. One bit per slot
// says where to look, so that finding the next expiry is a handful of instructions.
//
// A timer never fires early; it fires late by less than a tick plus the worker's own delay.
// Thread safety: none; a wheel belongs to a worker.

#include <array>
#include <cstddef>
#include <cstdint>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/time.hpp"

namespace sennit::runtime {

class TimerWheel;

/// What is to happen at an instant. Must outlive its arming; destroying it disarms.
class Timer : public ListHook<Timer> {
 public:
  using Expired = void (*)(Timer&);
  explicit Timer(Expired expired) : expired_(expired) {}
  ~Timer() { disarm(); }

  [[nodiscard]] bool is_armed() const { return is_linked(); }
  void disarm();

 private:
  friend class TimerWheel;
  Expired expired_;
  TimerWheel* wheel_ = nullptr;
  std::uint64_t tick_ = 0;  // When it is due; rounded up.
};

class TimerWheel {
 public:
  explicit TimerWheel(TimePoint start);
  ~TimerWheel();  // Requires that no timer is armed.

  /// Arms, or arms anew. An instant already past fires a tick after the last advance(). It may fire
  /// later by up to `slack`, to fire with others: timers with slack pick the roundest tick they
  /// can, so that many of them wake the worker once.
  void arm(Timer& timer, TimePoint instant, Duration slack = Duration::zero());

  /// Fires everything due by `now`. Timers may arm and disarm any timer while they fire.
  void advance(TimePoint now);

  /// When advance() has to be called next, at the latest; TimePoint::max() if nothing is armed.
  /// May be earlier than any timer is due, never later.
  [[nodiscard]] TimePoint next_expiry() const;

  [[nodiscard]] std::size_t armed_count() const { return armed_count_; }

 private:
  friend class Timer;
  static constexpr int tick_bits = 16, level_bits = 6, levels = 8, slots = 1 << level_bits;

  void insert(Timer& timer);
  void remove(Timer& timer);
  void open_slot(int level, int slot);
  [[nodiscard]] std::uint64_t next_tick() const;

  const TimePoint start_;
  std::uint64_t now_tick_ = 0;
  std::size_t armed_count_ = 0;
  std::array<std::uint64_t, levels> occupied_{};
  std::array<std::array<IntrusiveList<Timer>, slots>, levels> wheel_;
};

}  // namespace sennit::runtime
