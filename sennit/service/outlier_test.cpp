#include "sennit/service/outlier.hpp"

#include <gtest/gtest.h>

namespace sennit::service {
namespace {

using namespace std::chrono_literals;

constexpr OutlierOptions outlier_options = {
    .failures_to_eject = 3, .base_ejection = 10s, .most_ejection = 25s, .ejected_share_max = 0.5};

TEST(OutlierDetector, EjectsAfterFailuresInARowOnly) {
  OutlierDetector detector(4, outlier_options);
  const TimePoint now(1s);
  for (int i = 0; i < 10; ++i) {
    detector.failed(0, now);
    detector.failed(0, now);
    detector.succeeded(0);
  }
  EXPECT_FALSE(detector.is_ejected(0, now));
  for (int i = 0; i < 3; ++i) detector.failed(0, now);
  EXPECT_TRUE(detector.is_ejected(0, now));
  EXPECT_TRUE(detector.is_ejected(0, now + 9s));
  EXPECT_FALSE(detector.is_ejected(0, now + 10s));
}

TEST(OutlierDetector, StaysOutLongerEachTimeUpToTheMost) {
  OutlierDetector detector(4, outlier_options);
  TimePoint now(1s);
  for (int i = 0; i < 3; ++i) detector.failed(0, now);
  now += 10s;
  detector.failed(0, now);  // On trial: one is enough.
  EXPECT_TRUE(detector.is_ejected(0, now + 19s));
  now += 20s;
  detector.failed(0, now);
  EXPECT_TRUE(detector.is_ejected(0, now + 24s));
  EXPECT_FALSE(detector.is_ejected(0, now + 25s));
}

TEST(OutlierDetector, ForgivesWithSuccess) {
  OutlierDetector detector(4, outlier_options);
  TimePoint now(1s);
  for (int i = 0; i < 3; ++i) detector.failed(0, now);
  now += 10s;
  detector.succeeded(0);
  detector.failed(0, now);
  EXPECT_FALSE(detector.is_ejected(0, now)) << "no longer on trial";
  detector.failed(0, now);
  detector.failed(0, now);
  EXPECT_TRUE(detector.is_ejected(0, now + 9s));
  EXPECT_FALSE(detector.is_ejected(0, now + 10s)) << "as long as the first time";
}

TEST(OutlierDetector, LeavesHalfOfTheListInUseWhenAllFail) {
  OutlierDetector detector(5, outlier_options);
  const TimePoint now(1s);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < 5; ++i) detector.failed(i, now);
  }
  EXPECT_EQ(detector.ejected_count(now), 2U);
  OutlierDetector alone(1, outlier_options);
  for (int i = 0; i < 10; ++i) alone.failed(0, now);
  EXPECT_FALSE(alone.is_ejected(0, now)) << "the only address is never out";
}

TEST(OutlierDetector, NeverEjectsWhenToldNotTo) {
  OutlierDetector detector(4, {.failures_to_eject = 0});
  for (int i = 0; i < 1000; ++i) detector.failed(0, TimePoint(1s));
  EXPECT_FALSE(detector.is_ejected(0, TimePoint(1s)));
}

TEST(OutlierDetector, KeepsItsArithmeticInBounds) {
  OutlierDetector detector(2, {.failures_to_eject = 1,
                               .base_ejection = Duration::max() / 2,
                               .most_ejection = Duration::max(),
                               .ejected_share_max = 1});
  detector.failed(0, TimePoint::max() - 1s);
  EXPECT_TRUE(detector.is_ejected(0, TimePoint::max() - 1s));
}

}  // namespace
}  // namespace sennit::service
