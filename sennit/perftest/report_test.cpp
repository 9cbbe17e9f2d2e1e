#include "sennit/perftest/report.hpp"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace sennit::perftest {
namespace {

TestResult result_of(std::string name) {
  TestResult test{.name = std::move(name), .settings = {}, .measurement = {}, .beside = {}};
  test.measurement.calls = 25'369'636;
  test.measurement.time = Duration(1'508'939'000);
  test.measurement.ns_per_call = {60, 59, 61.5};
  return test;
}

TEST(WithCommas, GroupsThousands) {
  EXPECT_EQ(with_commas(0, 0), "0");
  EXPECT_EQ(with_commas(999, 0), "999");
  EXPECT_EQ(with_commas(1000, 0), "1,000");
  EXPECT_EQ(with_commas(1234567.5, 2), "1,234,567.50");
  EXPECT_EQ(with_commas(-123456, 0), "-123,456");
}

TEST(Describe, BeginsWithTheLinesOfGtestx) {
  const TestResult test = result_of("Pid.Get");
  EXPECT_EQ(describe(test.measurement, test.settings),
            "      count: 25,369,636\n"
            "       time: 1.508939 s\n"
            "         HZ: 16,812,897.009090\n"
            "       1/HZ: 0.000000059 s\n"
            "     median: 60.0 ns a call, 59.0 ns to 61.5 ns in 3 repetitions\n");
}

TEST(Describe, GoesOnWithWhatWasMeasured) {
  TestResult test = result_of("Pid.Get");
  test.settings = {.threads = 2, .fibers = 100, .items_per_call = 10, .bytes_per_call = 4096};
  test.measurement.calls = 1000;
  test.measurement.time = Duration(1'000'000'000);
  test.measurement.ns_per_call.clear();
  test.measurement.latency_ns.emplace();
  test.measurement.latency_ns->record_n(150, 999);
  test.measurement.latency_ns->record(2'500'000);
  test.measurement.allocations = Allocations{.count = 30, .bytes = 480};
  test.measurement.allocation_calls = 10;
  test.measurement.counters_per_call = {.instructions = 12.5, .cycles = 4, .cache_misses = {}};
  const std::string text = describe(test.measurement, test.settings);
  EXPECT_EQ(text.substr(text.find("    threads")),
            "    threads: 2\n"
            "     fibers: 100 each\n"
            "    latency: p50 150 ns, p90 150 ns, p99 150 ns, p99.9 150 ns, max 2.50 ms\n"
            "      items: 10.000 k/s\n"
            "      bytes: 4.096 MB/s\n"
            "allocations: 3.00 a call, 48.0 bytes\n"
            "   per call: 12.50 instructions, 4.00 cycles\n");
}

TEST(Describe, SaysNothingOfACallThatNeverCame) {
  EXPECT_EQ(describe(Measurement(), Settings()),
            "      count: 0\n"
            "       time: 0.000000 s\n"
            "         HZ: 0.000000\n"
            "       1/HZ: 0.000000000 s\n");
}

TEST(Json, ReturnsWhatWasWritten) {
  Report report{.machine = this_machine(), .tests = {result_of("A.\"b\""), result_of("C/0.d")}};
  report.tests.push_back(
      {.name = "Aborted.Early", .settings = {}, .measurement = {}, .beside = {}});
  const Result<Recorded> recorded = from_json(to_json(report));
  ASSERT_TRUE(recorded.has_value()) << recorded.error().to_string();
  EXPECT_EQ(recorded->machine_class, report.machine.machine_class());
  ASSERT_EQ(recorded->tests.size(), 2U);
  EXPECT_EQ(recorded->tests[0].name, "A.\"b\"");
  EXPECT_EQ(recorded->tests[1].ns_per_call, (std::vector<double>{60, 59, 61.5}));
}

TEST(Json, KeepsWhatWasMeasuredBesideAnother) {
  Report report{.machine = this_machine(), .tests = {result_of("A.b/one"), result_of("A.b/two")}};
  report.tests[1].beside = Beside{"A.b/one", {2, 2.5, 3}};
  const Result<Recorded> recorded = from_json(to_json(report));
  ASSERT_TRUE(recorded.has_value()) << recorded.error().to_string();
  ASSERT_EQ(recorded->tests.size(), 2U);
  EXPECT_FALSE(recorded->tests[0].beside.has_value());
  ASSERT_TRUE(recorded->tests[1].beside.has_value());
  EXPECT_EQ(recorded->tests[1].beside->name, "A.b/one");
  EXPECT_EQ(recorded->tests[1].beside->ratios, (std::vector<double>{2, 2.5, 3}));
}

TEST(Json, IsRefusedWhenItIsNoReport) {
  const std::string begin = R"({"format":"sennit-perftest-1","machine":{"class":"x"},"tests":)";
  EXPECT_TRUE(from_json(begin + "[]}").has_value());
  for (const std::string& wrong : {
           std::string(),
           std::string("[]"),
           std::string("{"),
           std::string(R"({"format":"other","machine":{"class":"x"},"tests":[]})"),
           std::string(R"({"format":"sennit-perftest-1","machine":[],"tests":[]})"),
           begin + "{}}",
           begin + "[1]}",
           begin + R"([{"name":1}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":[]}}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":[0]}}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":["1"]}}]})",
           begin + R"([{"name":"a","ns_per_call":{}}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":[1]},"beside":1}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":[1]},"beside":{"name":"b"}}]})",
           begin + R"([{"name":"a","ns_per_call":{"repetitions":[1]},
                        "beside":{"name":"b","rounds":[-1]}}]})",
       }) {
    SCOPED_TRACE(wrong);
    const Result<Recorded> recorded = from_json(wrong);
    ASSERT_FALSE(recorded.has_value());
    EXPECT_EQ(recorded.error().code(), Errc::malformed);
  }
}

TEST(ReportFile, IsWrittenAndRead) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "sennit_report_test.json";
  const Report report{.machine = this_machine(), .tests = {result_of("A.b")}};
  ASSERT_TRUE(write_report(report, path).has_value());
  const Result<Recorded> recorded = read_report(path);
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(recorded->tests.size(), 1U);
  std::filesystem::remove(path);
  EXPECT_EQ(read_report(path).error().code(), Errc::not_found);
  EXPECT_EQ(write_report(report, "/nonexistent/report.json").error().code(), Errc::not_found);
}

}  // namespace
}  // namespace sennit::perftest
