// What perftest itself adds to a call: an empty body and a system call, beside a loop written by
// hand and Google Benchmark (where the build found it), all in one run. The last test prints the
// table.

#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
#include <benchmark/benchmark.h>
#endif

#include "sennit/base/time.hpp"
#include "sennit/perftest/detail/session.hpp"
#include "sennit/perftest/do_not_optimize.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::perftest {
namespace {

PERF_TEST(Overhead, EmptyBody) {}
PERF_TEST(Overhead, Getppid) { ::getppid(); }

// The least of some rounds, in nanoseconds per call: what is left when nothing else runs.
template <class Loop>
double least_ns(Loop loop) {
  constexpr int calls = 2'000'000;
  const RealClock clock;
  double least = 1e9;
  for (int round = 0; round < 10; ++round) {
    const TimePoint begin = clock.now();
    loop(calls);
    least = std::min(least, static_cast<double>((clock.now() - begin).count()) / calls);
  }
  return least;
}

void empty_by_hand(int calls) {
  for (int i = 0; i < calls; ++i) clobber_memory();
}
void getppid_by_hand(int calls) {
  for (int i = 0; i < calls; ++i) ::getppid();
}

double least_ns_of(const std::string& name) {
  for (const TestResult& test : detail::session().report.tests) {
    if (test.name == name) return std::ranges::min(test.measurement.ns_per_call);
  }
  return 0;
}

#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
void empty_benchmark(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) clobber_memory();
}
void getppid_benchmark(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) ::getppid();
}

// Keeps the least time of all repetitions and prints nothing.
class Keep final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration) least = std::min(least, run.GetAdjustedRealTime());
    }
  }
  double least = 1e9;
};

double google_ns(const char* name, benchmark::internal::Function* function) {
  benchmark::RegisterBenchmark(name, function)->Repetitions(5)->MinTime(0.1);
  Keep keep;
  benchmark::RunSpecifiedBenchmarks(&keep, name);
  return keep.least;
}
#endif

TEST(Overhead, IsBelowANanosecond) {
  const double empty = least_ns_of("Overhead.EmptyBody");
  const double getppid = least_ns_of("Overhead.Getppid");
  if (empty == 0 || getppid == 0) GTEST_SKIP() << "the tests to compare with were left out";
  const double empty_loop = least_ns(empty_by_hand);
  const double getppid_loop = least_ns(getppid_by_hand);
  fmt::print("{:>28} {:>12} {:>12}\n", "least ns per call", "empty body", "getppid");
  fmt::print("{:>28} {:>12.3f} {:>12.3f}\n", "perftest", empty, getppid);
  fmt::print("{:>28} {:>12.3f} {:>12.3f}\n", "a loop written by hand", empty_loop, getppid_loop);
#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
  fmt::print("{:>28} {:>12.3f} {:>12.3f}\n", "Google Benchmark",
             google_ns("empty_benchmark", empty_benchmark),
             google_ns("getppid_benchmark", getppid_benchmark));
#else
  fmt::print("{:>28} {:>12} {:>12}\n", "Google Benchmark", "not built", "not built");
#endif
  EXPECT_LT(empty - empty_loop, 1);
}

}  // namespace
}  // namespace sennit::perftest
