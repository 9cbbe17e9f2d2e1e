#include "sennit/http/detail/shedder.hpp"

#include <gtest/gtest.h>

namespace sennit::http::detail {
namespace {

using namespace std::chrono_literals;

class ShedderTest : public ::testing::Test {
 protected:
  void observe(Duration delay, Duration during) {
    for (const TimePoint end = now_ + during; now_ < end; now_ += 10ms) {
      shedder_.observe(delay, now_);
    }
  }
  int shed_of(int requests) {
    int shed = 0;
    for (int i = 0; i < requests; ++i) shed += shedder_.sheds() ? 1 : 0;
    return shed;
  }
  Shedder shedder_{{.target = 20ms, .interval = 100ms}};
  TimePoint now_{1s};
};

TEST_F(ShedderTest, ShedsNothingWhileTheQueueEmptiesNowAndThen) {
  for (int i = 0; i < 50; ++i) {
    observe(500ms, 60ms);
    observe(1ms, 10ms);
    observe(500ms, 30ms);
  }
  EXPECT_EQ(shed_of(1000), 0);
}

TEST_F(ShedderTest, ShedsMoreTheLongerTheQueueStandsAndNeverEverything) {
  observe(30ms, 300ms);
  const double at_first = shedder_.share();
  EXPECT_GT(at_first, 0);
  observe(30ms, 1s);
  EXPECT_GT(shedder_.share(), at_first);
  observe(30ms, 20s);
  EXPECT_EQ(shedder_.share(), Shedder::share_max);
  EXPECT_NEAR(shed_of(1000), 950, 1);
}

TEST_F(ShedderTest, LetsEverybodyInAgainWithinTwoSeconds) {
  observe(30ms, 20s);
  observe(1ms, 2s);
  EXPECT_EQ(shed_of(1000), 0);
}

TEST_F(ShedderTest, WithoutATargetItNeverSheds) {
  shedder_ = Shedder({.target = Duration::zero()});
  observe(10s, 20s);
  EXPECT_EQ(shed_of(1000), 0);
}

}  // namespace
}  // namespace sennit::http::detail
