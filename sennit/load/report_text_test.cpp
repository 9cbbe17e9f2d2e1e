#include "sennit/load/report_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sennit/load/testing/sample_report.hpp"

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::sample_report;

TEST(ReportText, LaysItsFiguresOutAsWrkDoes) {
  EXPECT_EQ(to_text(sample_report(), true),
            "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n"
            "    Latency     1.98ms   47.40ms   1.50s    99.90%\n"
            "    Req/Sec   200.00    300.00     1.10k    90.00%\n"
            "  Latency Distribution\n"
            "     50%  200.06us\n"
            "     75%  200.06us\n"
            "     90%  200.06us\n"
            "     99%    3.00ms\n"
            "  1000 requests in 5.00s, 3.00MB read\n"
            "Requests/sec:    200.00\n"
            "Transfer/sec:    614.40KB\n");
}

TEST(ReportText, ShowsTheDistributionWhenAskedFor) {
  EXPECT_THAT(to_text(sample_report(), false), Not(HasSubstr("Latency Distribution")));
}

TEST(ReportText, ShowsBothTimesOfAnOpenLoopBehindWhatWrkPrints) {
  Report report = sample_report();
  report.rate = 250;
  report.response_ns.record_n(500'000, 1000);
  report.lag_ns.record_n(30'000, 1000);
  report.unsent = 3;
  const std::string text = to_text(report, false);
  EXPECT_THAT(text, HasSubstr("    Latency   500.00us"));
  EXPECT_THAT(text, HasSubstr("Transfer/sec:    614.40KB\n\nOpen loop: 250 requests/s asked for, "
                              "200 answered, 3 due and never sent\n"));
  EXPECT_THAT(text, HasSubstr("       50%        500.00us        200.06us       30.00us\n"));
  EXPECT_THAT(text, Not(HasSubstr("VOID")));
  report.void_reasons.push_back("it was late");
  EXPECT_THAT(to_text(report, false), HasSubstr("\nVOID: it was late\n"));
}

TEST(ReportText, ShowsStreamsBesideApart) {
  Report report = sample_report();
  report.beside.push_back(sample_report());
  report.beside[0].url = "http://h/slow";
  report.beside[0].errors.add(ErrorKind::status, 2);
  EXPECT_THAT(to_text(report, false),
              HasSubstr("\nBeside it: http://h/slow with 100 connections\n  1000 requests, 200.00 "
                        "requests/s, 50% 200.06us, 99% 3.00ms, max 1.50s\n  Non-2xx or 3xx "
                        "responses: 2\n"));
}

TEST(ReportText, NamesErrorsOnlyIfThereWereSome) {
  Report report = sample_report();
  EXPECT_THAT(to_text(report, false), Not(HasSubstr("errors")));
  report.errors.add(ErrorKind::status, 7);
  EXPECT_THAT(to_text(report, false), Not(HasSubstr("errors")));
  EXPECT_THAT(to_text(report, false), HasSubstr("  Non-2xx or 3xx responses: 7\n"));
  report.errors.add(ErrorKind::connect, 1);
  report.errors.add(ErrorKind::read, 2);
  report.errors.add(ErrorKind::write, 3);
  report.errors.add(ErrorKind::timeout, 4);
  EXPECT_THAT(to_text(report, false),
              HasSubstr("  Socket errors: connect 1, read 2, write 3, timeout 4\n"));
  EXPECT_EQ(report.errors.total(), 17);
}

TEST(ReportText, OfNothingIsAllZeros) {
  const std::string text = to_text(Report(), false);
  EXPECT_THAT(text, HasSubstr("    Latency     0.00us    0.00us   0.00us    0.00%\n"));
  EXPECT_THAT(text, HasSubstr("Requests/sec:      0.00\n"));
}

TEST(ReportText, HeadsARunAsWrkDoes) {
  EXPECT_EQ(heading_text("http://h/", 30s, 2, 100),
            "Running 30s test @ http://h/\n  2 threads and 100 connections\n");
  EXPECT_EQ(heading_text("http://h/", 2min, 1, 1),
            "Running 2m test @ http://h/\n  1 threads and 1 connections\n");
  EXPECT_EQ(heading_text("http://h/", 500ms, 1, 1),
            "Running 500.00ms test @ http://h/\n  1 threads and 1 connections\n");
}

}  // namespace
}  // namespace sennit::load
