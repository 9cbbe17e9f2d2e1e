#include "sennit/metrics/histogram_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>

namespace sennit::metrics {
namespace {

TEST(HistogramLayout, SupportsOnlyItsRanges) {
  EXPECT_TRUE(HistogramLayout::supports({}));
  EXPECT_TRUE(HistogramLayout::supports({.highest = INT64_MAX, .significant_digits = 5}));
  EXPECT_FALSE(HistogramLayout::supports({.lowest = 0}));
  EXPECT_FALSE(HistogramLayout::supports({.lowest = INT64_MAX, .highest = INT64_MAX}));
  EXPECT_FALSE(HistogramLayout::supports({.lowest = 10, .highest = 19}));
  EXPECT_FALSE(HistogramLayout::supports({.significant_digits = 0}));
  EXPECT_FALSE(HistogramLayout::supports({.significant_digits = 6}));
  EXPECT_FALSE(HistogramLayout::supports({.lowest = std::int64_t{1} << 60, .highest = INT64_MAX}));
}

TEST(HistogramLayout, HasTheBucketCountsItsHeaderStates) {
  EXPECT_EQ(HistogramLayout({}).bucket_count(), 33'792U);
  EXPECT_EQ(HistogramLayout({.significant_digits = 2}).bucket_count(), 4'608U);
}

// For every layout: buckets tile the range in order, hold what they say, and are narrow enough.
TEST(HistogramLayout, TilesTheRangeWithinItsError) {
  double error = 1;
  for (const int digits : {1, 2, 3, 4, 5}) {
    error /= 10;
    for (const std::int64_t lowest : {1, 2, 1000}) {
      SCOPED_TRACE(testing::Message() << "digits " << digits << ", lowest " << lowest);
      const HistogramLayout layout(
          {.lowest = lowest, .highest = 100'000'000, .significant_digits = digits});
      std::int64_t next = 0;
      for (std::size_t i = 0; i < layout.bucket_count(); ++i) {
        const std::int64_t low = layout.lowest_in(i), high = layout.highest_in(i);
        ASSERT_EQ(low, next);
        ASSERT_LE(low, layout.middle_of(i));
        ASSERT_LE(layout.middle_of(i), high);
        ASSERT_EQ(layout.index_of(low), i);
        ASSERT_EQ(layout.index_of(high), i);
        const auto beyond_unit = static_cast<double>(high - low);
        ASSERT_LE(beyond_unit,
                  std::max(error * static_cast<double>(low), static_cast<double>(lowest)));
        next = high + 1;
      }
      EXPECT_GT(next, 100'000'000);
    }
  }
}

TEST(HistogramLayout, ReachesTheGreatestInteger) {
  const HistogramLayout layout({.highest = INT64_MAX});
  EXPECT_EQ(layout.index_of(INT64_MAX), layout.bucket_count() - 1);
  EXPECT_EQ(layout.highest_in(layout.bucket_count() - 1), INT64_MAX);
}

TEST(HistogramLayout, ClampsWhatItDoesNotCover) {
  const HistogramLayout layout({.highest = 1000});
  for (const std::int64_t covered : {0, 1, 1000}) {
    EXPECT_TRUE(layout.covers(covered));
    EXPECT_EQ(layout.clamp(covered), covered);
  }
  EXPECT_FALSE(layout.covers(-1));
  EXPECT_FALSE(layout.covers(1001));
  EXPECT_EQ(layout.clamp(-1), 0);
  EXPECT_EQ(layout.clamp(INT64_MAX), 1000);
}

}  // namespace
}  // namespace sennit::metrics
