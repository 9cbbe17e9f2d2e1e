#include "sennit/load/rate_search.hpp"

#include <gtest/gtest.h>

namespace sennit::load {
namespace {

TEST(RateSearch, FindsTheHighestRateThatHoldsFromAnyStart) {
  for (const double limit : {1.5, 70.0, 999.0, 12'345.0, 3e6}) {
    for (const double first : {1.0, 1000.0, 1e8}) {
      RateSearch search(first);
      int tries = 0;
      while (const auto rate = search.next()) {
        search.tell(*rate <= limit);
        ++tries;
      }
      EXPECT_LE(search.best(), limit);
      EXPECT_GE(search.best(), limit / 1.06) << limit << " from " << first;
      EXPECT_LE(tries, 40);
    }
  }
}

TEST(RateSearch, EndsWhereNothingOrEverythingHolds) {
  RateSearch nothing(1000);
  while (nothing.next()) nothing.tell(false);
  EXPECT_EQ(nothing.best(), 0);
  RateSearch everything(1000);
  while (everything.next()) everything.tell(true);
  EXPECT_EQ(everything.best(), 1e8);
}

TEST(RateSearch, TriesNoMoreOftenThanAllowed) {
  RateSearch search(1, 1e-9, 5);
  int tries = 0;
  for (; search.next(); ++tries) search.tell(tries % 2 == 0);
  EXPECT_EQ(tries, 5);
}

}  // namespace
}  // namespace sennit::load
