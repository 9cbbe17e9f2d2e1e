#include "sennit/base/time.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace sennit {
namespace {

using namespace std::chrono_literals;

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const TimePoint start = clock.now();
  EXPECT_EQ(clock.now(), start);
  clock.advance(3s);
  EXPECT_EQ(clock.now() - start, 3s);
}

TEST(ManualClock, StepsTheWallWithoutMovingTime) {
  ManualClock clock;
  const TimePoint start = clock.now();
  const WallTime wall = clock.wall_now();
  clock.step_wall(-1h);
  EXPECT_EQ(clock.now(), start);
  EXPECT_EQ(clock.wall_now() - wall, -1h);
}

TEST(RealClock, NeverGoesBack) {
  const RealClock clock;
  TimePoint last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = clock.now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(Deadline, ExpiresAtItsInstant) {
  ManualClock clock;
  const Deadline deadline = Deadline::after(10ms, clock);
  EXPECT_FALSE(deadline.expired(clock.now()));
  EXPECT_EQ(deadline.remaining(clock.now()), 10ms);
  clock.advance(10ms);
  EXPECT_TRUE(deadline.expired(clock.now()));
  EXPECT_EQ(deadline.remaining(clock.now()), 0ns);
}

TEST(Deadline, NeverExpiresUnlessSet) {
  const Deadline deadline;
  EXPECT_TRUE(deadline.is_never());
  EXPECT_FALSE(deadline.expired(TimePoint::max()));
  EXPECT_EQ(deadline.remaining(TimePoint(5s)), Duration::max());
}

TEST(Deadline, SaturatesATimeoutTooLargeToRepresent) {
  const ManualClock clock;
  EXPECT_TRUE(Deadline::after(Duration::max(), clock).is_never());
  EXPECT_TRUE(Deadline::after(-1s, clock).expired(clock.now()));
}

TEST(Deadline, OrdersTheStricterFirst) {
  const Deadline soon = Deadline::at(TimePoint(1s));
  const Deadline late = Deadline::at(TimePoint(2s));
  EXPECT_EQ(std::min({late, Deadline::never(), soon}), soon);
}

}  // namespace
}  // namespace sennit
