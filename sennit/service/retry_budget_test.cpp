#include "sennit/service/retry_budget.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace sennit::service {
namespace {

using namespace std::chrono_literals;

TEST(RetryBudget, LetsNoMoreThanItsRatioBeRetriedInTheLongRun) {
  const TimePoint now(1s);
  RetryBudget budget({.ratio = 0.1, .per_second = 0, .tokens_max = 10});
  int retries = 0;
  for (int i = 0; i < 10'000; ++i) {
    budget.on_call();
    for (int again = 0; again < 3; ++again) retries += budget.take(now) ? 1 : 0;
  }
  EXPECT_GE(retries, 1000);
  EXPECT_LE(retries, 1011);
}

TEST(RetryBudget, RefillsWithTimeUpToItsMost) {
  RetryBudget budget({.ratio = 0, .per_second = 2, .tokens_max = 3});
  TimePoint now(1s);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(budget.take(now));
  EXPECT_FALSE(budget.take(now));
  EXPECT_FALSE(budget.take(now + 400ms));
  EXPECT_TRUE(budget.take(now + 600ms));
  now += 24h;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(budget.take(now)) << i;
  EXPECT_FALSE(budget.take(now));
}

TEST(RetryBudget, IsNotRefilledByAClockThatStandsOrGoesBack) {
  RetryBudget budget({.ratio = 0, .per_second = 1, .tokens_max = 1});
  EXPECT_TRUE(budget.take(TimePoint(10s)));
  EXPECT_FALSE(budget.take(TimePoint(5s)));
  EXPECT_FALSE(budget.take(TimePoint(10s)));
  EXPECT_TRUE(budget.take(TimePoint(11s)));
}

TEST(RetryBudget, TakesOptionsThatAreNoNumbersForZero) {
  RetryBudget budget({.ratio = NAN, .per_second = -1, .tokens_max = NAN});
  budget.on_call();
  EXPECT_FALSE(budget.take(TimePoint(1s)));
  EXPECT_FALSE(budget.take(TimePoint(100s)));
  EXPECT_EQ(budget.tokens(), 0);
}

}  // namespace
}  // namespace sennit::service
