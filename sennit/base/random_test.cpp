#include "sennit/base/random.hpp"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>

namespace sennit {
namespace {

TEST(Random, ReplaysFromASeed) {
  Random first(42), second(42), other(43);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = first.next();
    EXPECT_EQ(number, second.next());
    differs |= number != other.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, StaysBelowItsBoundAndReachesEveryValue) {
  Random random(7);
  std::array<int, 10> seen{};
  for (int i = 0; i < 10'000; ++i) ++seen.at(random.below(10));
  for (const int count : seen) {
    EXPECT_GT(count, 800);  // Expected 1,000; the seed is fixed, so this cannot flicker.
    EXPECT_LT(count, 1200);
  }
  EXPECT_EQ(random.below(0), 0U);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, IncludesBothEndsOfARange) {
  Random random(9);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t number = random.between(-2, 2);
    ASSERT_GE(number, -2);
    ASSERT_LE(number, 2);
    low |= number == -2;
    high |= number == 2;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(random.between(5, 5), 5);
  random.between(INT64_MIN, INT64_MAX);
}

TEST(Random, GivesUnitsBelowOne) {
  Random random(11);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double unit = random.unit();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
    sum += unit;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(RandomSeed, DiffersEachTime) { EXPECT_NE(random_seed(), random_seed()); }

}  // namespace
}  // namespace sennit
