#include "sennit/load/report_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sennit/load/testing/sample_report.hpp"

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::sample_report;

TEST(ReportJson, IsJson) {
  Report report = sample_report();
  report.errors.add(ErrorKind::timeout, 4);
  report.first_error = "get an answer from 127.0.0.1:8080: no response in time";
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["url"], report.url);
  EXPECT_EQ(json["connections"], 100);
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["backend"], "io_uring");
  EXPECT_EQ(json["requests"], 1000);
  EXPECT_EQ(json["duration_s"], 5.0);
  EXPECT_EQ(json["requests_per_s"], 200.0);
  EXPECT_EQ(json["bytes_read"], 3 * 1024 * 1024);
  const nlohmann::json errors = {
      {"connect", 0}, {"read", 0}, {"write", 0}, {"timeout", 4}, {"status", 0}};
  EXPECT_EQ(json["errors"], errors);
  EXPECT_EQ(json["first_error"], report.first_error);
  const auto& latency = json["latency_us"];
  for (const char* key : {"p50", "p75", "p90", "p99", "p99.9", "max", "mean", "stdev"}) {
    EXPECT_TRUE(latency[key].is_number()) << key;
  }
  EXPECT_NEAR(latency["p50"].get<double>(), 200, 0.2);
  EXPECT_NEAR(latency["p99.9"].get<double>(), 3'000, 3);
  EXPECT_EQ(latency["max"].get<double>(), 1'500'000);
}

TEST(ReportJson, IsJsonEvenForAUrlThatIsNotUtf8) {
  Report report;
  report.url = "http://\xff/";
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

Report everything() {
  Report report = sample_report();
  report.rate = 250;
  report.pipeline = 4;
  report.unsent = 5;
  report.cpu_busy = 0.5;
  report.cpu_time = 2s;
  report.first_error = "read a response";
  report.void_reasons = {"late", "saturated"};
  report.errors.add(ErrorKind::status, 9);
  report.response_ns.record_n(1'000'000, 1000);
  report.lag_ns.record_n(1000, 1000);
  report.machine = {"host", "a processor", "Linux 6", 2, 1024, 0.25, "2024-01-01T00:00:00Z"};
  Report::Interval interval;
  interval.counts = {{3, 4}, {100, 1}};
  interval.errors = 1;
  report.intervals = {interval, {}};
  report.beside.push_back(sample_report());
  report.beside[0].url = "http://h/slow";
  return report;
}

TEST(ReportJson, ComesBackWhole) {
  const Report report = everything();
  const auto read = report_from_json(to_json(report));
  ASSERT_TRUE(read.has_value()) << read.error().to_string();
  EXPECT_EQ(read->requests, report.requests);
  EXPECT_EQ(read->duration, report.duration);
  EXPECT_EQ(read->void_reasons, report.void_reasons);
  EXPECT_EQ(read->errors[ErrorKind::status], 9);
  EXPECT_EQ(read->service_ns.count(), report.service_ns.count());
  EXPECT_EQ(read->service_ns.percentile(99), report.service_ns.percentile(99));
  EXPECT_EQ(read->response_ns.count(), 1000);
  EXPECT_EQ(read->lag_ns.count(), 1000);
  EXPECT_EQ(read->rates.count(), report.rates.count());
  ASSERT_EQ(read->intervals.size(), 2);
  EXPECT_EQ(read->intervals[0].counts, report.intervals[0].counts);
  EXPECT_EQ(read->machine.processor, "a processor");
  ASSERT_EQ(read->beside.size(), 1);
  EXPECT_EQ(read->beside[0].url, "http://h/slow");
}

// Each field in turn is left out, or is of a kind or a size that it never has.
TEST(ReportJson, RefusesWhatIsNoReportAndNamesTheField) {
  const auto whole = nlohmann::json::parse(to_json(everything()));
  for (const auto& [key, value] : whole.items()) {
    if (key.ends_with("_per_s") || key == "is_void") continue;  // For readers; not read back.
    nlohmann::json spoilt = whole;
    spoilt.erase(key);
    EXPECT_FALSE(report_from_json(spoilt.dump()).has_value()) << key;
    for (const auto& wrong : {nlohmann::json(-1), nlohmann::json("text?"), nlohmann::json(1e300),
                              nlohmann::json(), nlohmann::json::array({nlohmann::json()})}) {
      if (wrong.is_string() && (key == "url" || key == "backend" || key == "first_error")) continue;
      spoilt[key] = wrong;
      const auto refused = report_from_json(spoilt.dump());
      ASSERT_FALSE(refused.has_value()) << key << " = " << wrong;
      EXPECT_EQ(refused.error().code(), Errc::malformed);
    }
  }
  nlohmann::json spoilt = whole;
  spoilt["latency_us"]["histogram"] = "0,1,2,HISTbroken";
  EXPECT_THAT(report_from_json(spoilt.dump()).error().to_string(), HasSubstr("'histogram'"));
  spoilt = whole;
  spoilt["intervals"][0]["counts"][0][0] = 1'000'000;
  EXPECT_THAT(report_from_json(spoilt.dump()).error().to_string(), HasSubstr("'counts'"));
  for (const char* text : {"", "[]", "{", "nonsense", "{}"}) {
    EXPECT_FALSE(report_from_json(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace sennit::load
