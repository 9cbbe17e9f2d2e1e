#include "sennit/perftest/crew.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

namespace sennit::perftest {
namespace {

TEST(ThreadCrew, CallsOneOnTheCallingThread) {
  std::thread::id seen;
  ThreadCrew().run(1, [&](int index) {
    EXPECT_EQ(index, 0);
    seen = std::this_thread::get_id();
  });
  EXPECT_EQ(seen, std::this_thread::get_id());
}

// Each waits for all the others, which ends only if they run at once.
TEST(ThreadCrew, CallsManyAtOnce) {
  std::latch everybody(4);
  std::atomic<int> sum = 0;
  ThreadCrew().run(4, [&](int index) {
    everybody.arrive_and_wait();
    sum += index;
  });
  EXPECT_EQ(sum, 0 + 1 + 2 + 3);
}

TEST(RealTimeline, SleepsUntilTheInstantAndNotShortOfIt) {
  RealTimeline timeline;
  const TimePoint instant = timeline.now() + std::chrono::milliseconds(2);
  timeline.sleep_until(instant);
  EXPECT_GE(timeline.now(), instant);
  timeline.sleep_until(instant);  // Already past: at once.
}

}  // namespace
}  // namespace sennit::perftest
