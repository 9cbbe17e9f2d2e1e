#include "sennit/runtime/interval.hpp"

#include <gtest/gtest.h>

#include "sennit/runtime/testing/seeds.hpp"
#include "sennit/runtime/testing/simulation.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Interval, DoesNotDriftHoweverLateEachBeatIsNoticed) {
  testing::for_each_seed(20, [](std::uint64_t seed) {
    testing::Simulation sim({.seed = seed});
    sim.run([] {
      const Clock& clock = Worker::here().clock();
      const TimePoint start = clock.now();
      Interval every(10ms);
      for (int beat = 1; beat <= 1000; ++beat) {
        ASSERT_TRUE(wait(every.next()).has_value());
        ASSERT_EQ(every.last(), start + beat * 10ms);
        ASSERT_GE(clock.now(), every.last());
        ASSERT_LT(clock.now(), every.last() + 1ms);
        wait(sleep_for(random_ms(0, 8)));  // Work that takes differently long.
      }
      EXPECT_EQ(every.missed_count(), 0U);
    });
  });
}

TEST(Interval, SkipsTheBeatsThatWereMissed) {
  testing::Simulation sim;
  sim.run([] {
    const TimePoint start = Worker::here().clock().now();
    Interval every(10ms);
    wait(every.next());
    wait(sleep_for(35ms));
    wait(every.next());
    EXPECT_EQ(every.last(), start + 50ms);
    EXPECT_EQ(every.missed_count(), 3U);
    wait(every.next());
    EXPECT_EQ(every.last(), start + 60ms);
  });
}

TEST(IntervalDeathTest, RefusesAPeriodOfNothing) {
  testing::Simulation sim;
  EXPECT_DEATH(sim.run([] { Interval(Duration(0)); }), "period");
}

}  // namespace
}  // namespace sennit::runtime
