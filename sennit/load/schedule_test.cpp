#include "sennit/load/schedule.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Schedule, SpacesAConstantRateEvenlyWithoutDrift) {
  const Schedule schedule = Schedule::constant(1000);
  EXPECT_EQ(schedule.time_of(0), 0ms);
  EXPECT_EQ(schedule.time_of(1), 1ms);
  EXPECT_EQ(schedule.time_of(10'000'000), 10'000s) << "long after its one segment has ended";
  EXPECT_DOUBLE_EQ(schedule.rate_at(77min), 1000);
  EXPECT_DOUBLE_EQ(schedule.mean_rate(2h), 1000);
}

TEST(Schedule, FollowsARampThatRisesOrFalls) {
  // From 0 to 100/s in 10 s: t^2 * 5 requests by t.
  const Schedule rising({{10s, 0, 100}});
  for (const int second : {1, 2, 5, 10}) {
    const auto index = static_cast<std::uint64_t>(second * second * 5);
    EXPECT_NEAR(static_cast<double>(rising.time_of(index).count()), second * 1e9, 10);
  }
  EXPECT_DOUBLE_EQ(rising.rate_at(5s), 50);
  EXPECT_DOUBLE_EQ(rising.mean_rate(10s), 50);
  EXPECT_NEAR(static_cast<double>(rising.time_of(600).count()), 11e9, 10) << "100/s go on";

  const Schedule falling({{10s, 100, 10}});
  EXPECT_NEAR(static_cast<double>(falling.time_of(550).count()), 10e9, 10);
  EXPECT_NEAR(static_cast<double>(falling.time_of(560).count()), 11e9, 10);
}

TEST(Schedule, NeverGoesBackAcrossSegments) {
  const Schedule schedule({{1s, 0, 1000}, {1s, 1000, 1000}, {1s, 1000, 1}, {1s, 0, 50}});
  Duration before = schedule.time_of(0);
  for (std::uint64_t i = 1; i < 3000; ++i) {
    const Duration time = schedule.time_of(i);
    ASSERT_GE(time, before) << i;
    before = time;
  }
}

TEST(Schedule, SendsNothingInASegmentOfRateZero) {
  const Schedule schedule({{1s, 10, 10}, {5s, 0, 0}, {1s, 10, 10}});
  EXPECT_EQ(schedule.time_of(9), 900ms);
  EXPECT_EQ(schedule.time_of(10), 6s);
  EXPECT_EQ(schedule.time_of(11), 6100ms);
  EXPECT_DOUBLE_EQ(schedule.rate_at(3s), 0);
}

TEST(Schedule, StaysWithinItsRangeForHugeIndices) {
  const Schedule schedule({{1s, 1, 1}});
  EXPECT_GT(schedule.time_of(UINT64_MAX), 100h);
}

TEST(ParseSegments, ReadsRampsAndPlateaus) {
  const auto segments = parse_segments("1k..10k:30s,5000:1m");
  ASSERT_TRUE(segments.has_value()) << segments.error().to_string();
  ASSERT_EQ(segments->size(), 2);
  EXPECT_EQ((*segments)[0].length, 30s);
  EXPECT_EQ((*segments)[0].from, 1000);
  EXPECT_EQ((*segments)[0].to, 10'000);
  EXPECT_EQ((*segments)[1].length, 60s);
  EXPECT_EQ((*segments)[1].from, 5000);
  EXPECT_EQ((*segments)[1].to, 5000);
}

TEST(ParseSegments, ShowsWhatItDidNotUnderstand) {
  for (const auto& [text, said] : {
           std::pair{"", "''"},
           std::pair{"1000", "'1000'"},
           std::pair{"1000:", "''"},
           std::pair{":10s", "''"},
           std::pair{"1..:10s", "''"},
           std::pair{"1000:10s,", "''"},
           std::pair{"x:10s", "'x'"},
           std::pair{"1000:soon", "'soon'"},
           std::pair{"0:10s", "'0'"},
           std::pair{"2G:10s", "100M"},
       }) {
    const auto refused = parse_segments(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_THAT(refused.error().to_string(), HasSubstr(said));
  }
}

}  // namespace
}  // namespace sennit::load
