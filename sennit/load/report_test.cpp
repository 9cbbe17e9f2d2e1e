#include "sennit/load/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Report sample() {
  Report report;
  report.url = "http://127.0.0.1:8080/status";
  report.connections = 100;
  report.workers = 2;
  report.backend = "io_uring";
  report.duration = 5s;
  report.requests = 1000;
  report.bytes_read = 3 * 1024 * 1024;
  report.latency_ns.record_n(200'000, 900);
  report.latency_ns.record_n(3'000'000, 99);
  report.latency_ns.record_n(1'500'000'000, 1);
  report.rates.record_n(100, 9);
  report.rates.record_n(1100, 1);
  return report;
}

TEST(Report, LaysItsFiguresOutAsWrkDoes) {
  EXPECT_EQ(to_text(sample()),
            "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
            "    Latency     1.98ms   47.40ms   1.50s    99.90%\n"
            "    Req/Sec   200.00    300.00     1.10k    90.00%\n"
            "  Latency Distribution\n"
            "     50%  200.06us\n"
            "     75%  200.06us\n"
            "     90%  200.06us\n"
            "     99%    3.00ms\n"
            "   99.9%    3.00ms\n"
            "     max    1.50s \n"
            "  1000 requests in 5.00s, 3.00MB read\n"
            "Requests/sec:    200.00\n"
            "Transfer/sec:    614.40KB\n");
}

TEST(Report, NamesErrorsOnlyIfThereWereSome) {
  Report report = sample();
  EXPECT_THAT(to_text(report), Not(HasSubstr("errors")));
  report.errors.add(ErrorKind::status, 7);
  EXPECT_THAT(to_text(report), Not(HasSubstr("errors")));
  EXPECT_THAT(to_text(report), HasSubstr("  Non-2xx or 3xx responses: 7\n"));
  report.errors.add(ErrorKind::connect, 1);
  report.errors.add(ErrorKind::read, 2);
  report.errors.add(ErrorKind::write, 3);
  report.errors.add(ErrorKind::timeout, 4);
  EXPECT_THAT(to_text(report),
              HasSubstr("  Socket errors: connect 1, read 2, write 3, timeout 4\n"));
  EXPECT_EQ(report.errors.total(), 17);
}

TEST(Report, OfNothingIsAllZeros) {
  const std::string text = to_text(Report());
  EXPECT_THAT(text, HasSubstr("    Latency     0.00us    0.00us   0.00us    0.00%\n"));
  EXPECT_THAT(text, HasSubstr("Requests/sec:      0.00\n"));
}

TEST(Report, HeadsARunAsWrkDoes) {
  EXPECT_EQ(heading_text("http://h/", 30s, 2, 100),
            "Running 30s test @ http://h/\n  2 threads and 100 connections\n");
  EXPECT_EQ(heading_text("http://h/", 2min, 1, 1),
            "Running 2m test @ http://h/\n  1 threads and 1 connections\n");
  EXPECT_EQ(heading_text("http://h/", 500ms, 1, 1),
            "Running 500.00ms test @ http://h/\n  1 threads and 1 connections\n");
}

TEST(Report, IsJson) {
  Report report = sample();
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

TEST(Report, IsJsonEvenForAUrlThatIsNotUtf8) {
  Report report;
  report.url = "http://\xff/";
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

}  // namespace
}  // namespace sennit::load
