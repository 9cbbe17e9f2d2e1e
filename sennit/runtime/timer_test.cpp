#include "sennit/runtime/timer.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sennit/base/random.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start(5s);
constexpr Duration wheel_tick(1 << 16);

struct Probe : Timer {
  Probe() : Timer([](Timer& timer) { ++static_cast<Probe&>(timer).fired; }) {}
  int fired = 0;
};

TEST(TimerWheel, FiresNeverEarlyAndLessThanATickLate) {
  for (const Duration delay :
       {Duration(0ns), Duration(1ns), Duration(wheel_tick), Duration(1ms), Duration(4194304ns),
        Duration(10ms), Duration(1s), Duration(1min), Duration(24h), Duration(24h * 365)}) {
    SCOPED_TRACE(delay.count());
    TimerWheel wheel(start);
    Probe probe;
    wheel.arm(probe, start + delay);
    wheel.advance(start + delay - 1ns);
    EXPECT_EQ(probe.fired, 0);
    wheel.advance(start + delay + wheel_tick);
    EXPECT_EQ(probe.fired, 1);
    EXPECT_FALSE(probe.is_armed());
    EXPECT_EQ(wheel.armed_count(), 0U);
  }
}

TEST(TimerWheel, SaysWhenToComeBack) {
  TimerWheel wheel(start);
  EXPECT_EQ(wheel.next_expiry(), TimePoint::max());
  Probe probe;
  wheel.arm(probe, start + 10s);
  int wakeups = 0;
  for (; probe.fired == 0; ++wakeups) {
    const TimePoint next = wheel.next_expiry();
    ASSERT_LE(next, start + 10s + wheel_tick);
    wheel.advance(next);
  }
  EXPECT_LE(wakeups, 8) << "at most one for each level";
  EXPECT_EQ(wheel.next_expiry(), TimePoint::max());
}

TEST(TimerWheel, ForgetsADisarmedTimer) {
  TimerWheel wheel(start);
  Probe probe;
  wheel.arm(probe, start + 1ms);
  probe.disarm();
  probe.disarm();
  wheel.advance(start + 1s);
  EXPECT_EQ(probe.fired, 0);
  {
    Probe dying;
    wheel.arm(dying, start + 2s);
  }
  EXPECT_EQ(wheel.armed_count(), 0U);
  wheel.advance(start + 3s);
}

TEST(TimerWheel, MovesATimerThatIsArmedAgain) {
  TimerWheel wheel(start);
  Probe probe;
  wheel.arm(probe, start + 1ms);
  wheel.arm(probe, start + 1s);
  wheel.advance(start + 500ms);
  EXPECT_EQ(probe.fired, 0);
  wheel.advance(start + 2s);
  EXPECT_EQ(probe.fired, 1);
}

TEST(TimerWheel, FiresWhatIsAlreadyPastATickLater) {
  for (const TimePoint past : {TimePoint::min(), TimePoint(), start, start + 59min}) {
    TimerWheel wheel(start);
    wheel.advance(start + 1h);
    Probe probe;
    wheel.arm(probe, past);
    wheel.advance(start + 1h + wheel_tick);
    EXPECT_EQ(probe.fired, 1);
  }
}

TEST(TimerWheel, StandsStillWhenTheClockIsBehindItsStart) {
  TimerWheel wheel(start);
  Probe probe;
  wheel.arm(probe, start + 1ms);
  wheel.advance(TimePoint::min());
  EXPECT_EQ(probe.fired, 0);
  wheel.advance(start + 2ms);
  EXPECT_EQ(probe.fired, 1);
}

TEST(TimerWheel, AllowsArmingAndDisarmingWhileFiring) {
  struct Periodic : Timer {
    Periodic(TimerWheel& w, Timer& v)
        : Timer([](Timer& timer) {
            auto& self = static_cast<Periodic&>(timer);
            self.victim.disarm();
            if (++self.fired < 3) self.wheel.arm(self, start + (self.fired + 1) * 10ms);
          }),
          wheel(w),
          victim(v) {}
    TimerWheel& wheel;
    Timer& victim;
    int fired = 0;
  };
  TimerWheel wheel(start);
  Probe victim;
  Periodic periodic(wheel, victim);
  wheel.arm(periodic, start + 10ms);
  wheel.arm(victim, start + 10ms);
  wheel.advance(start + 1s);
  EXPECT_EQ(periodic.fired, 3);
  EXPECT_EQ(victim.fired, 0) << "disarmed by one that fired in the same tick";
}

// Model test: against a multimap, over jumps from nanoseconds to days.
TEST(TimerWheel, AgreesWithASortedMapUnderRandomUse) {
  Random random(3);
  TimerWheel wheel(start);
  struct Modelled : Timer {
    Modelled() : Timer([](Timer& timer) { static_cast<Modelled&>(timer).fired = true; }) {}
    TimePoint due;
    bool fired = false;
  };
  std::vector<std::unique_ptr<Modelled>> timers;
  for (int i = 0; i < 200; ++i) timers.push_back(std::make_unique<Modelled>());
  TimePoint now = start;
  for (int step = 0; step < 20'000; ++step) {
    Modelled& timer = *timers[random.below(timers.size())];
    const Duration distance(random.below(std::uint64_t{1} << random.between(1, 50)));
    switch (random.below(4)) {
      case 0:
      case 1:
        timer.due = now + distance;
        timer.fired = false;
        wheel.arm(timer, timer.due);
        break;
      case 2:
        timer.disarm();
        break;
      default:
        now = random.below(2) == 0 ? now + distance / 16
                                   : std::max(now, std::min(wheel.next_expiry(), now + 24h));
        wheel.advance(now);
        for (const auto& each : timers) {
          if (each->fired) {
            ASSERT_LE(each->due, now) << "early";
          }
          if (each->is_armed()) {
            ASSERT_GT(each->due + 2 * wheel_tick, now) << "late";
          }
        }
    }
  }
}

TEST(TimerWheel, HoldsMillionsOfTimers) {
  constexpr std::size_t count = 1'000'000;
  TimerWheel wheel(start);
  const auto probes = std::make_unique<Probe[]>(count);
  Random random(4);
  for (std::size_t i = 0; i < count; ++i) {
    wheel.arm(probes[i], start + Duration(random.below(3'600'000'000'000)));
  }
  EXPECT_EQ(wheel.armed_count(), count);
  for (std::size_t i = 0; i < count; i += 2) probes[i].disarm();
  EXPECT_EQ(wheel.armed_count(), count / 2);
  wheel.advance(start + 1h + 1ms);
  EXPECT_EQ(wheel.armed_count(), 0U);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(probes[i].fired, i % 2 == 0 ? 0 : 1);
}

// A thousand timers of about the same second wake the worker once rather than a thousand times.
TEST(TimerWheel, GathersTimersWithSlackAtFewInstants) {
  for (const Duration slack : {Duration(0ms), Duration(500ms)}) {
    TimerWheel wheel(start);
    Random random(5);
    std::vector<std::unique_ptr<Probe>> probes;
    for (int i = 0; i < 1000; ++i) {
      probes.push_back(std::make_unique<Probe>());
      wheel.arm(*probes.back(), start + 10s + Duration(random.below(100'000'000)), slack);
    }
    std::set<TimePoint> instants;
    std::size_t armed = 1000;
    while (wheel.armed_count() > 0) {
      const TimePoint next = wheel.next_expiry();
      wheel.advance(next);
      if (wheel.armed_count() != armed) instants.insert(next);
      armed = wheel.armed_count();
    }
    if (slack == 0ms) {
      EXPECT_GT(instants.size(), 300U);
    } else {
      EXPECT_LE(instants.size(), 2U);
    }
  }
}

TEST(TimerWheel, KeepsATimerWithSlackWithinIt) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    TimerWheel wheel(start);
    Probe probe;
    const Duration delay(random.below(std::uint64_t{1} << random.between(1, 45)));
    const Duration slack(random.below(std::uint64_t{1} << random.between(1, 45)));
    wheel.arm(probe, start + delay, slack);
    wheel.advance(start + delay - 1ns);
    ASSERT_EQ(probe.fired, 0) << "early";
    wheel.advance(start + delay + slack + wheel_tick);
    ASSERT_EQ(probe.fired, 1) << "late";
  }
}

}  // namespace
}  // namespace sennit::runtime
