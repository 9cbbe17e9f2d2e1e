#include "sennit/metrics/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/base/random.hpp"

namespace sennit::metrics {
namespace {

// Spread over all magnitudes, as latencies of a service in trouble are.
std::vector<std::int64_t> spread_values(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<std::int64_t>(std::exp(random.unit() * std::log(3e12))));
  }
  return values;
}

TEST(Histogram, IsAllZeroesWhenEmpty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.stddev(), 0);
  EXPECT_EQ(histogram.percentile(99), 0);
  EXPECT_EQ(histogram.buckets().begin(), histogram.buckets().end());
}

TEST(Histogram, FindsEveryPercentileWithinItsError) {
  std::vector<std::int64_t> values = spread_values(100'000, 1);
  for (const auto& [digits, error] : {std::pair{1, 0.1}, {2, 0.01}, {3, 0.001}, {4, 0.0001}}) {
    SCOPED_TRACE(digits);
    Histogram histogram({.significant_digits = digits});
    for (const std::int64_t value : values) histogram.record(value);
    std::ranges::sort(values);
    for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
      SCOPED_TRACE(percent);
      const auto rank = static_cast<std::size_t>(std::llround(percent * 1000));
      const std::int64_t exact = values[rank - 1];
      const std::int64_t found = histogram.percentile(percent);
      EXPECT_GE(found, exact);
      EXPECT_LE(static_cast<double>(found - exact), error * static_cast<double>(exact));
    }
  }
}

TEST(Histogram, KeepsCountSumAndExtremesExactly) {
  Histogram histogram;
  histogram.record(1'234'567);
  histogram.record_n(7, 3);
  histogram.record(987'654'321);
  EXPECT_EQ(histogram.count(), 5U);
  EXPECT_EQ(histogram.sum(), 1'234'567U + 21 + 987'654'321);
  EXPECT_EQ(histogram.min(), 7);
  EXPECT_EQ(histogram.max(), 987'654'321);
  EXPECT_EQ(histogram.percentile(0), 7);
  EXPECT_EQ(histogram.percentile(100), 987'654'321);
  EXPECT_DOUBLE_EQ(histogram.mean(), static_cast<double>(histogram.sum()) / 5);
}

TEST(Histogram, CountsRanksWithoutRoundingUp) {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.record(i);
  EXPECT_EQ(histogram.percentile(50), 500);
  EXPECT_EQ(histogram.percentile(99), 990);
  EXPECT_EQ(histogram.percentile(99.9), 999);
  EXPECT_EQ(histogram.percentile(99.91), 1000);
  EXPECT_EQ(histogram.percentile(0.1), 1);
}

TEST(Histogram, MeasuresTheStandardDeviation) {
  Histogram histogram;
  for (const int value : {2, 4, 4, 4, 5, 5, 7, 9}) histogram.record(value);
  EXPECT_DOUBLE_EQ(histogram.mean(), 5);
  EXPECT_DOUBLE_EQ(histogram.stddev(), 2);
}

TEST(Histogram, ClampsAndSaysHowOften) {
  Histogram histogram({.highest = 1000});
  histogram.record(1000);
  EXPECT_EQ(histogram.clamped_count(), 0U);
  histogram.record_n(1001, 2);
  histogram.record(-5);
  EXPECT_EQ(histogram.clamped_count(), 3U);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.max(), 1000);
  EXPECT_EQ(histogram.min(), 0);
}

TEST(Histogram, MergesAsIfRecordedInOne) {
  Histogram whole, first, second;
  int i = 0;
  for (const std::int64_t value : spread_values(10'000, 2)) {
    whole.record(value);
    (++i % 3 == 0 ? first : second).record(value);
  }
  first.merge(second);
  first.merge(Histogram());
  EXPECT_EQ(first.count(), whole.count());
  EXPECT_EQ(first.sum(), whole.sum());
  EXPECT_EQ(first.min(), whole.min());
  EXPECT_EQ(first.max(), whole.max());
  EXPECT_EQ(first.stddev(), whole.stddev());
  for (std::size_t at = 0; at < whole.layout().bucket_count(); ++at) {
    ASSERT_EQ(first.count_at(at), whole.count_at(at));
  }
}

TEST(HistogramDeathTest, RefusesToMergeAnotherLayout) {
  Histogram histogram;
  EXPECT_DEATH(histogram.merge(Histogram({.significant_digits = 2})), "options");
}

TEST(Histogram, StartsAfreshAfterReset) {
  Histogram histogram({.highest = 100});
  histogram.record_n(500, 10);
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.clamped_count(), 0U);
  histogram.record(3);
  EXPECT_EQ(histogram.min(), 3);
  EXPECT_EQ(histogram.max(), 3);
  EXPECT_EQ(histogram.percentile(50), 3);
}

TEST(Histogram, ListsTheBucketsThatCounted) {
  Histogram histogram({.significant_digits = 1});  // S is 32.
  histogram.record_n(5, 2);
  histogram.record(33);
  histogram.record(1000);
  std::vector<Histogram::Bucket> found;
  for (const Histogram::Bucket& bucket : histogram.buckets()) found.push_back(bucket);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].lowest, 5);
  EXPECT_EQ(found[0].highest, 5);
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[1].lowest, 32);
  EXPECT_EQ(found[1].highest, 33);
  EXPECT_EQ(found[2].lowest, 992);
  EXPECT_EQ(found[2].highest, 1023);
}

TEST(Histogram, CountsUpToAValue) {
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.record(i);
  EXPECT_EQ(histogram.count_up_to(-1), 0U);
  EXPECT_EQ(histogram.count_up_to(0), 1U);
  EXPECT_EQ(histogram.count_up_to(49), 50U);
  EXPECT_EQ(histogram.count_up_to(INT64_MAX), 100U);
}

}  // namespace
}  // namespace sennit::metrics
