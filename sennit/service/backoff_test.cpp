#include "sennit/service/backoff.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace sennit::service {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesItsCeilingUntilTheMost) {
  Backoff backoff({.first = 10ms, .most = 70ms, .factor = 2});
  Random random(1);
  for (const Duration want : {10ms, 20ms, 40ms, 70ms, 70ms}) {
    EXPECT_EQ(backoff.ceiling(), want);
    const Duration delay = backoff.next(random);
    EXPECT_GE(delay, Duration::zero());
    EXPECT_LE(delay, want);
  }
  backoff.reset();
  EXPECT_EQ(backoff.ceiling(), 10ms);
}

TEST(Backoff, SpreadsItsDelays) {
  Random random(7);
  int low = 0, high = 0;
  for (int i = 0; i < 1000; ++i) {
    Backoff backoff({.first = 100ms, .most = 1s, .factor = 2});
    const Duration delay = backoff.next(random);
    low += delay < 50ms ? 1 : 0;
    high += delay >= 50ms ? 1 : 0;
  }
  EXPECT_GT(low, 400);
  EXPECT_GT(high, 400);
}

TEST(Backoff, StaysInItsBoundsHoweverItIsAskedAndHoweverOften) {
  const Duration longest = Duration::max();
  const double infinity = std::numeric_limits<double>::infinity();
  const BackoffOptions odd[] = {
      {.first = 0ms, .most = 1s, .factor = 2},
      {.first = 0ms, .most = 0ms, .factor = infinity},
      {.first = -5ms, .most = 1s, .factor = 2},
      {.first = 5ms, .most = -1s, .factor = 2},
      {.first = 1ms, .most = longest, .factor = 1e300},
      {.first = longest, .most = longest, .factor = 2},
      {.first = 1ms, .most = longest, .factor = infinity},
      {.first = 1ms, .most = 1s, .factor = std::numeric_limits<double>::quiet_NaN()},
      {.first = 1ms, .most = 1s, .factor = -3},
  };
  Random random(3);
  for (const BackoffOptions& options : odd) {
    Backoff backoff(options);
    const Duration most = std::max(options.most, Duration::zero());
    for (int i = 0; i < 10'000; ++i) {
      const Duration delay = backoff.next(random);
      ASSERT_GE(delay, Duration::zero()) << i;
      ASSERT_LE(delay, most) << i;
      ASSERT_LE(backoff.ceiling(), most) << i;
    }
    if (options.first <= Duration::zero()) {
      EXPECT_EQ(backoff.ceiling(), Duration::zero());
    }
  }
}

}  // namespace
}  // namespace sennit::service
