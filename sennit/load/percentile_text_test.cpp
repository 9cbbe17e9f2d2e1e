#include "sennit/load/percentile_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace sennit::load {
namespace {

using ::testing::HasSubstr;

TEST(PercentileDistribution, RisesFromTheLeastToTheGreatestValue) {
  metrics::Histogram histogram;
  for (int i = 1; i <= 10'000; ++i) histogram.record(i * 1'000'000LL);
  const std::string text = percentile_distribution(histogram);
  EXPECT_THAT(text, HasSubstr("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"));
  std::istringstream lines(text);
  std::string line;
  double value_before = 0, level_before = -1;
  int count = 0;
  std::getline(lines, line);
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.starts_with('#')) {
    double value = 0, level = 0;
    std::uint64_t total = 0;
    std::istringstream(line) >> value >> level >> total;
    EXPECT_GE(value, value_before);
    EXPECT_GT(level, level_before);
    EXPECT_GE(static_cast<double>(total) / 10'000, level - 1e-9) << line;
    EXPECT_NEAR(value / 10'000, level, 0.012) << line;
    value_before = value;
    level_before = level;
    ++count;
  }
  EXPECT_GT(count, 50);
  EXPECT_EQ(level_before, 1);
  EXPECT_THAT(text, HasSubstr("#[Max     =    10000.000, Total count    =        10000]\n"));
}

TEST(PercentileDistribution, OfNothingHasNoLines) {
  EXPECT_THAT(percentile_distribution(metrics::Histogram()),
              HasSubstr("1/(1-Percentile)\n\n#[Mean    =        0.000"));
}

}  // namespace
}  // namespace sennit::load
