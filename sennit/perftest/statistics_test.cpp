#include "sennit/perftest/statistics.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/base/random.hpp"

namespace sennit::perftest {
namespace {

// Skewed as times are.
double skewed(Random& random) { return 1 - std::log(1 - random.unit()); }

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 2, 100}), 3);
}

TEST(MedianInterval, UsesTheRanksOfTheTables) {
  // For 10 samples and 95 %, tables give the 2nd and the 9th; for 6 the 1st and the 6th.
  const auto ten = median_interval({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.95);
  ASSERT_TRUE(ten.has_value());
  EXPECT_EQ(ten->low, 2);
  EXPECT_EQ(ten->high, 9);
  const auto six = median_interval({6, 5, 4, 3, 2, 1}, 0.95);
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}, 0.95).has_value());
  EXPECT_FALSE(median_interval({}, 0.95).has_value());
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  Random random(1);
  const double truth = 1 + std::log(2.0);
  int held = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(20);
    for (double& sample : samples) sample = skewed(random);
    const auto interval = median_interval(samples, 0.95);
    held += interval->low <= truth && truth <= interval->high;
  }
  EXPECT_GE(held, 0.95 * trials);
}

TEST(RatioOf, UsesTheRanksOfTheTables) {
  // For 5 and 5 samples at 95 %, U must be at most 2: two of the 25 ratios at each end are left
  // out.
  const std::vector<double> before{1, 1, 1, 1, 1}, after{1, 2, 3, 4, 5};
  const RatioEstimate estimate = ratio_of(before, after, 0.95);
  EXPECT_EQ(estimate.ratio, 3);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_EQ(estimate.interval->low, 1);
  EXPECT_EQ(estimate.interval->high, 5);
  EXPECT_FALSE(ratio_of(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}, 0.95).interval);
}

TEST(RatioOf, HoldsTheRatioAsOftenAsItSays) {
  Random random(2);
  int held = 0;
  constexpr int trials = 1000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> before(8), after(8);
    for (double& sample : before) sample = skewed(random);
    for (double& sample : after) sample = 1.5 * skewed(random);
    const RatioEstimate estimate = ratio_of(before, after, 0.9);
    held += estimate.interval->low <= 1.5 && 1.5 <= estimate.interval->high;
  }
  EXPECT_GE(held, 0.89 * trials);
}

TEST(RatioOf, CopesWithItsMostSamples) {
  const std::vector<double> before(100, 2.0), after(100, 3.0);
  const RatioEstimate estimate = ratio_of(before, after, 0.99);
  EXPECT_EQ(estimate.ratio, 1.5);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_EQ(estimate.interval->low, 1.5);
}

}  // namespace
}  // namespace sennit::perftest
