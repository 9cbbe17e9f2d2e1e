#include "sennit/metrics/histogram_log.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace sennit::metrics {
namespace {

TEST(HistogramLog, BeginsAsReadersExpect) {
  EXPECT_EQ(log_header(1'700'000'000.25),
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: 1700000000.250 (seconds since epoch)]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n");
}

TEST(HistogramLog, ReadsItsOwnLines) {
  Histogram histogram;
  histogram.record_n(5'000'000, 10);
  histogram.record(12'345'678);
  const std::string line = log_line({.start_s = 1.5, .length_s = 0.25}, histogram);
  EXPECT_TRUE(line.starts_with("1.500,0.250,12.346,HISTFAAAA")) << line;
  for (const std::string& accepted : {line, "Tag=get," + line, line.substr(0, line.size() - 1)}) {
    const Result<LogEntry> entry = parse_log_line(accepted);
    ASSERT_TRUE(entry.has_value()) << entry.error().to_string();
    EXPECT_EQ(entry->interval.start_s, 1.5);
    EXPECT_EQ(entry->interval.length_s, 0.25);
    EXPECT_EQ(entry->histogram.count(), 11U);
    EXPECT_EQ(entry->histogram.percentile(50), histogram.percentile(50));
  }
}

TEST(HistogramLog, TellsCommentsFromLines) {
  for (const std::string_view comment : {"", "\n", "#[StartTime: 1]", "\"StartTimestamp\",..."}) {
    EXPECT_TRUE(is_log_comment(comment));
    EXPECT_FALSE(parse_log_line(comment).has_value());
  }
  EXPECT_FALSE(is_log_comment("0.0,1.0,2.0,HISTF"));
}

TEST(HistogramLog, RefusesWhatIsNoLine) {
  for (const std::string_view line :
       {"1,2", "1,2,3", "1,2,3,", "x,2,3,HISTFAAA", "1,nan,3,HISTFAAA", "1,2,3,HIST!AAA",
        "1,2,3,AAAAAAAAAAAAAAAA", ",,,", "Tag=a"}) {
    SCOPED_TRACE(line);
    const Result<LogEntry> entry = parse_log_line(line);
    ASSERT_FALSE(entry.has_value());
    EXPECT_EQ(entry.error().code(), Errc::malformed);
  }
}

}  // namespace
}  // namespace sennit::metrics
