#include "sennit/load/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;

TEST(Units, RefuseWhatIsNoCount) {
  for (const std::string_view text : {"", "k", "0", "-1", "+1", " 1", "1 ", "1.5", "1.0001k", "1x",
                                      "1kk", "1e3", "3G", "inf", "nan", "99999999999999999999"}) {
    SCOPED_TRACE(text);
    const auto count = parse_count(text);
    ASSERT_FALSE(count.has_value());
    EXPECT_THAT(count.error().to_string(), ::testing::HasSubstr("such as 100 or 1k"));
  }
}

TEST(Units, ReadCounts) {
  struct Case {
    std::string_view text;
    std::uint32_t count;
  };
  for (const auto& [text, count] : {Case{"1", 1}, Case{"100", 100}, Case{"1k", 1000},
                                    Case{"1.5k", 1500}, Case{"2M", 2'000'000}}) {
    SCOPED_TRACE(text);
    ASSERT_TRUE(parse_count(text).has_value());
    EXPECT_EQ(*parse_count(text), count);
  }
}

TEST(Units, RefuseWhatIsNoDuration) {
  for (const std::string_view text : {"", "s", "0", "0s", "-1s", "+1s", "5 s", "5x", "5sm", "1001h",
                                      "1e2s", "inf", "nan", "0.1us", "99999999999999999999h"}) {
    SCOPED_TRACE(text);
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration.has_value());
    EXPECT_THAT(duration.error().to_string(), ::testing::HasSubstr("such as 30s"));
  }
}

TEST(Units, ReadDurations) {
  struct Case {
    std::string_view text;
    Duration duration;
  };
  for (const auto& [text, duration] :
       {Case{"5s", 5s}, Case{"5", 5s}, Case{"2m", 2min}, Case{"1h", 1h}, Case{"250ms", 250ms},
        Case{"10us", 10us}, Case{"1.5s", 1500ms}, Case{"0.5m", 30s}, Case{"1000h", 1000h}}) {
    SCOPED_TRACE(text);
    ASSERT_TRUE(parse_duration(text).has_value());
    EXPECT_EQ(*parse_duration(text), duration);
  }
}

TEST(Units, WriteTimesAsWrkDoes) {
  EXPECT_EQ(format_microseconds(0), "0.00us");
  EXPECT_EQ(format_microseconds(849.99), "849.99us");
  EXPECT_EQ(format_microseconds(850), "0.85ms");
  EXPECT_EQ(format_microseconds(12'345), "12.35ms");
  EXPECT_EQ(format_microseconds(999'990), "999.99ms");
  EXPECT_EQ(format_microseconds(1'500'000), "1.50s");
  EXPECT_EQ(format_microseconds(120e6), "2.00m");
  EXPECT_EQ(format_microseconds(7200e6), "120.00m");
}

TEST(Units, WriteAmountsAsWrkDoes) {
  EXPECT_EQ(format_metric(12), "12.00");
  EXPECT_EQ(format_metric(849), "849.00");
  EXPECT_EQ(format_metric(91'300), "91.30k");
  EXPECT_EQ(format_metric(1.5e6), "1.50M");
  EXPECT_EQ(format_binary(512), "512.00");
  EXPECT_EQ(format_binary(900), "0.88K");
  EXPECT_EQ(format_binary(1.5 * 1024 * 1024), "1.50M");
  EXPECT_EQ(format_seconds(5), "5s");
  EXPECT_EQ(format_seconds(120), "2m");
}

}  // namespace
}  // namespace sennit::load
