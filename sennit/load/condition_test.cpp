#include "sennit/load/condition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;

TEST(Condition, LooksAtWhatItNames) {
  Report report;
  report.duration = 10s;
  report.requests = 1000;
  report.service_ns.record_n(1'000'000, 990);
  report.service_ns.record_n(50'000'000, 10);
  report.errors.add(ErrorKind::status, 5);
  for (const auto& [text, holds] : {
           std::pair{"p50<2ms", true},
           std::pair{"p50<1ms", false},
           std::pair{"p99.9>40ms", true},
           std::pair{"p99.9>=60ms", false},
           std::pair{"max<=51ms", true},
           std::pair{"mean<2ms", true},
           std::pair{"service_p50<2ms", true},
           std::pair{"requests_per_s>=100", true},
           std::pair{"requests_per_s>100", false},
           std::pair{"errors>0", true},
           std::pair{"errors<=4", false},
           std::pair{"error_rate<=0.005", true},
           std::pair{"unsent>0", false},
       }) {
    const auto condition = Condition::parse(text);
    ASSERT_TRUE(condition.has_value()) << condition.error().to_string();
    EXPECT_EQ(condition->holds(report), holds) << text;
    EXPECT_EQ(condition->text(), text);
  }
  EXPECT_EQ(Condition::parse("p50<1ms")->value_text(report), "1.00ms");
  EXPECT_EQ(Condition::parse("errors>0")->value_text(report), "5");
}

TEST(Condition, MeansResponseTimesInAnOpenLoop) {
  Report report;
  report.rate = 100;
  report.service_ns.record(1'000'000);
  report.response_ns.record(80'000'000);
  EXPECT_FALSE(Condition::parse("p99<10ms")->holds(report));
  EXPECT_TRUE(Condition::parse("service_p99<10ms")->holds(report));
}

TEST(Condition, SaysWhatItWouldHaveUnderstood) {
  for (const auto& [text, said] : {
           std::pair{"", "p99<10ms"},
           std::pair{"p99", "p99<10ms"},
           std::pair{"p99=1ms", "p99<10ms"},
           std::pair{"speed<1ms", "percentiles"},
           std::pair{"p101<1ms", "percentiles"},
           std::pair{"p-1<1ms", "percentiles"},
           std::pair{"service_errors<1", "percentiles"},
           std::pair{"p99<", "a time"},
           std::pair{"p99<fast", "a time"},
           std::pair{"errors>", "a number"},
           std::pair{"errors>nan", "a number"},
           std::pair{"errors>1x", "a number"},
       }) {
    const auto refused = Condition::parse(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_THAT(refused.error().to_string(), ::testing::HasSubstr(said));
  }
}

}  // namespace
}  // namespace sennit::load
