#include "sennit/metrics/family.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>

#include "sennit/metrics/metric.hpp"

namespace sennit::metrics {
namespace {

Family<Counter> counters(std::size_t series_max, std::vector<std::string> names) {
  return {std::move(names), series_max, [] { return std::make_unique<Counter>(1); }};
}

TEST(CleanLabelValue, KeepsUtf8AndReplacesTheRest) {
  struct Case {
    std::string_view given, kept;
  };
  for (const auto& [given, kept] : {
           Case{"", ""}, Case{"GET /users", "GET /users"},
           Case{"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80",
                "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"},
           Case{"a\xff"
                "b",
                "a\xef\xbf\xbd"
                "b"},
           Case{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // Overlong.
           Case{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // A surrogate.
           Case{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                  // Cut off.
       }) {
    EXPECT_EQ(clean_label_value(given), kept);
  }
}

TEST(CleanLabelValue, CutsBetweenCharacters) {
  EXPECT_EQ(clean_label_value(std::string(1000, 'x')), std::string(label_bytes_max, 'x'));
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
  EXPECT_EQ(clean_label_value(euros).size(), label_bytes_max / 3 * 3);
}

TEST(Family, HasOneMetricPerCombination) {
  Family<Counter> family = counters(10, {"route", "code"});
  family.with("/a", "200").cell(0).add();
  family.with(std::string("/a"), "200").cell(0).add();
  family.with("/a", "404").cell(0).add();
  std::string seen;
  family.for_each([&](const LabelValues& values, const Counter& counter) {
    seen += values[0] + " " + values[1] + " " + std::to_string(counter.value()) + "\n";
  });
  EXPECT_EQ(seen, "/a 200 2\n/a 404 1\n");
  EXPECT_EQ(family.overflow_count(), 0U);
}

TEST(Family, CountsWhatExceedsItsLimitInOneSeries) {
  Family<Counter> family = counters(2, {"path"});
  for (int i = 0; i < 100; ++i) family.with("/" + std::to_string(i)).cell(0).add();
  family.with("/0").cell(0).add();
  std::string seen;
  family.for_each([&](const LabelValues& values, const Counter& counter) {
    seen += values[0] + " " + std::to_string(counter.value()) + "\n";
  });
  EXPECT_EQ(seen, "/0 2\n/1 1\nother 98\n");
  EXPECT_EQ(family.overflow_count(), 98U);
}

TEST(Family, WithoutLabelsIsOneMetric) {
  Family<Counter> family = counters(1, {});
  family.with().cell(0).add(3);
  EXPECT_EQ(&family.with(), &family.with());
  EXPECT_EQ(family.with().value(), 3U);
}

TEST(FamilyDeathTest, RequiresAValuePerName) {
  Family<Counter> family = counters(1, {"route", "code"});
  EXPECT_DEATH(family.with("/a"), "values");
}

}  // namespace
}  // namespace sennit::metrics
