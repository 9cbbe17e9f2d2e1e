#include "sennit/runtime/timer.hpp"

#include <algorithm>
#include <bit>

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

void Timer::disarm() {
  if (is_armed()) wheel_->remove(*this);
}

TimerWheel::TimerWheel(TimePoint start) : start_(start) {}

TimerWheel::~TimerWheel() { SENNIT_ASSERT(armed_count_ == 0, armed_count_); }

namespace {

// The tick within [first, first + slack] with the most zeros at its end: what timers of about the
// same time, armed at different instants, agree on.
std::uint64_t roundest_tick(std::uint64_t first, std::uint64_t slack) {
  if (slack == 0) return first;
  const std::uint64_t last = first + slack;
  const std::uint64_t differing = (first - 1) ^ last;  // The highest bit that can be rounded up to.
  const std::uint64_t bit = std::bit_floor(differing);
  return last & ~(bit - 1);
}

}  // namespace

void TimerWheel::arm(Timer& timer, TimePoint instant, Duration slack) {
  timer.disarm();
  constexpr std::uint64_t tick_max = (std::uint64_t{1} << (level_bits * levels)) - 1;
  const std::int64_t distance = instant <= start_ ? 0 : (instant - start_).count();
  const auto rounded_up =
      (static_cast<std::uint64_t>(distance) + (1U << tick_bits) - 1) >> tick_bits;
  timer.wheel_ = this;
  const std::uint64_t slack_ticks =
      static_cast<std::uint64_t>(std::max(slack, Duration::zero()).count()) >> tick_bits;
  const std::uint64_t first = std::clamp(rounded_up, now_tick_ + 1, tick_max);
  timer.tick_ = roundest_tick(first, std::min(slack_ticks, tick_max - first));
  insert(timer);
  ++armed_count_;
}

// The level is that of the highest bit in which the due tick differs from now: all slots of the
// levels below would come round before it.
void TimerWheel::insert(Timer& timer) {
  const std::uint64_t difference = timer.tick_ ^ now_tick_;
  const int level = difference == 0 ? 0 : (63 - std::countl_zero(difference)) / level_bits;
  const auto slot = static_cast<int>((timer.tick_ >> (level * level_bits)) & (slots - 1));
  wheel_[level][slot].push_back(timer);
  occupied_[level] |= std::uint64_t{1} << slot;
}

// Leaves the slot's bit set: the slot may hold others, and an empty slot that is visited costs
// little. open_slot() clears it.
void TimerWheel::remove(Timer& timer) {
  timer.unlink();
  --armed_count_;
}

// The first instant at which some slot must be opened: a slot of level 0 because its timers are
// due, one of a higher level because its timers must move down.
std::uint64_t TimerWheel::next_tick() const {
  for (int level = 0; level < levels; ++level) {
    const int shift = level * level_bits;
    const std::uint64_t position = (now_tick_ >> shift) & (slots - 1);
    // Slots at or before the position are past: they hold nothing until the level wraps, and
    // what lies beyond the wrap is in a higher level.
    const std::uint64_t ahead =
        position == slots - 1 ? 0 : occupied_[level] & (~std::uint64_t{0} << (position + 1));
    if (ahead == 0) continue;
    const auto slot = static_cast<std::uint64_t>(std::countr_zero(ahead));
    const std::uint64_t base = now_tick_ >> (shift + level_bits) << (shift + level_bits);
    return base + (slot << shift);
  }
  return UINT64_MAX;
}

void TimerWheel::open_slot(int level, int slot) {
  occupied_[level] &= ~(std::uint64_t{1} << slot);
  IntrusiveList<Timer> opened;
  opened.splice_back(wheel_[level][slot]);
  while (!opened.empty()) {
    Timer& timer = opened.pop_front();
    if (timer.tick_ > now_tick_) {
      insert(timer);
    } else {
      --armed_count_;
      timer.expired_(timer);
    }
  }
}

void TimerWheel::advance(TimePoint now) {
  const std::int64_t elapsed = now <= start_ ? 0 : (now - start_).count();
  const std::uint64_t target = static_cast<std::uint64_t>(elapsed) >> tick_bits;
  if (target <= now_tick_) return;  // Nothing is ever armed for a tick that has begun.
  for (std::uint64_t tick = next_tick(); tick <= target; tick = next_tick()) {
    now_tick_ = tick;
    // From the top, so that what moves down lands in a slot opened after.
    for (int level = levels - 1; level >= 0; --level) {
      const int shift = level * level_bits;
      if (shift > 0 && (tick & ((std::uint64_t{1} << shift) - 1)) != 0) continue;
      open_slot(level, static_cast<int>((tick >> shift) & (slots - 1)));
    }
  }
  now_tick_ = std::max(now_tick_, target);
}

TimePoint TimerWheel::next_expiry() const {
  if (armed_count_ == 0) return TimePoint::max();
  const std::uint64_t tick = next_tick();
  if (tick >= static_cast<std::uint64_t>(Duration::max().count()) >> tick_bits) {
    return TimePoint::max();
  }
  const Duration elapsed(static_cast<std::int64_t>(tick << tick_bits));
  return elapsed > TimePoint::max() - start_ ? TimePoint::max() : start_ + elapsed;
}

}  // namespace sennit::runtime
