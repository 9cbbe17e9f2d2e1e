#include "sennit/net/name_cache.hpp"

#include <gtest/gtest.h>

namespace sennit::net {
namespace {

using namespace std::chrono_literals;

const TimePoint cache_start(1s);

std::vector<Address> cache_address(int last = 1) {
  return {*Address::from_host("10.0.0." + std::to_string(last), 0)};
}

TEST(NameCache, KeepsAnAnswerForItsTimeWithinTheBounds) {
  struct Row {
    Duration said, kept;
  };
  for (const Row& row : {Row{30s, 30s}, Row{0s, 1s}, Row{24h * 36500, 5min}, Row{-5s, 1s}}) {
    NameCache cache({});
    cache.put("a", cache_address(), row.said, cache_start);
    EXPECT_TRUE(cache.find("a", cache_start + row.kept - 1ns).has_value());
    EXPECT_FALSE(cache.find("a", cache_start + row.kept).has_value());
    EXPECT_EQ(cache.size(), 0U) << "what is too old is gone";
  }
}

TEST(NameCache, RemembersThatANameDoesNotExist) {
  NameCache cache({});
  cache.put_absent("a", cache_start);
  const auto found = cache.find("a", cache_start + 4s);
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->has_value());
  EXPECT_EQ(found->error().code(), Errc::not_found);
  EXPECT_FALSE(cache.find("a", cache_start + 5s).has_value());
  NameCache without({.negative_ttl = 0s});
  without.put("a", {}, 1h, cache_start);
  EXPECT_FALSE(without.find("a", cache_start).has_value());
}

TEST(NameCache, ReplacesWhatItKnew) {
  NameCache cache({});
  cache.put_absent("a", cache_start);
  cache.put("a", cache_address(1), 10s, cache_start);
  cache.put("a", cache_address(2), 20s, cache_start);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(cache.find("a", cache_start + 15s)->value().front().to_string(), "10.0.0.2:0");
}

TEST(NameCache, ForgetsTheNameAskedForTheLongestAgo) {
  NameCache cache({.names_max = 2});
  cache.put("a", cache_address(), 1min, cache_start);
  cache.put("b", cache_address(), 1min, cache_start);
  EXPECT_TRUE(cache.find("a", cache_start).has_value());
  cache.put("c", cache_address(), 1min, cache_start);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(cache.find("a", cache_start).has_value());
  EXPECT_FALSE(cache.find("b", cache_start).has_value());
  NameCache none({.names_max = 0});
  none.put("a", cache_address(), 1min, cache_start);
  EXPECT_EQ(none.size(), 0U);
}

}  // namespace
}  // namespace sennit::net
