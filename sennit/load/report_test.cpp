#include "sennit/load/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Report, MergesRunsExactly) {
  Report one, other, both;
  for (int i = 1; i <= 1000; ++i) {
    Report& half = i % 3 == 0 ? one : other;
    half.service_ns.record(i * 1000);
    both.service_ns.record(i * 1000);
    ++half.requests;
  }
  one.duration = 2s;
  other.duration = 3s;
  one.errors.add(ErrorKind::read, 1);
  other.errors.add(ErrorKind::read, 2);
  other.void_reasons = {"late"};
  other.beside.emplace_back();
  one.merge(other);
  EXPECT_EQ(one.requests, 1000);
  EXPECT_EQ(one.duration, 3s);
  EXPECT_EQ(one.errors[ErrorKind::read], 3);
  EXPECT_TRUE(one.is_void());
  EXPECT_EQ(one.beside.size(), 1);
  EXPECT_EQ(one.service_ns.count(), both.service_ns.count());
  for (const double percent : {1.0, 50.0, 99.0, 99.9}) {
    EXPECT_EQ(one.service_ns.percentile(percent), both.service_ns.percentile(percent));
  }
}

TEST(Report, AddsIntervalsSecondBySecond) {
  Report report;
  report.add_intervals({{{{5, 1}, {9, 2}}, 1}});
  report.add_intervals({{{{2, 1}, {9, 3}}, 2}, {{{1, 1}}, 0}});
  ASSERT_EQ(report.intervals.size(), 2);
  EXPECT_THAT(report.intervals[0].counts, ElementsAre(Pair(2, 1), Pair(5, 1), Pair(9, 5)));
  EXPECT_EQ(report.intervals[0].errors, 3);
  EXPECT_EQ(report.intervals[0].histogram().count(), 7);
  EXPECT_EQ(report.intervals[1].histogram().count(), 1);
}

TEST(Report, IsVoidWhenTheGeneratorWasLateOrSaturated) {
  Report report;
  report.lag_ns.record_n(100'000, 99);
  report.lag_ns.record_n(9'000'000, 2);
  report.cpu_busy = 0.99;
  report.judge(1ms);
  EXPECT_FALSE(report.is_void()) << "a closed loop has no schedule and may use all of its CPU";

  report.rate = 1000;
  report.judge(1ms);
  ASSERT_EQ(report.void_reasons.size(), 2);
  EXPECT_THAT(report.void_reasons[0], HasSubstr("late"));
  EXPECT_THAT(report.void_reasons[1], HasSubstr("99 %"));
  report.cpu_busy = 0.5;
  report.judge(10ms);
  EXPECT_FALSE(report.is_void());
}

}  // namespace
}  // namespace sennit::load
