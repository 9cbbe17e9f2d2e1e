// What perftest itself adds to a call: an empty body and a system call, beside a loop written by
// hand and Google Benchmark (where the build found it), in turns, in one run.

#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <functional>
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
#include "sennit/perftest/measure.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::perftest {
namespace {

PERF_TEST(Overhead, EmptyBody) {}
PERF_TEST(Overhead, Getppid) { ::getppid(); }

// Short turns, and many: some of them nobody else disturbs, however busy the machine is.
constexpr int rounds = 200;
constexpr int turn_ms = 2;

// A test's own loop, measured as every test is.
template <class Test>
class LoopOf final : public Body {
 public:
  void run(Batch& batch) override { detail::PerfCalls::run(test_, batch); }
  double ns_per_call() {
    RealTimeline timeline;
    Settings settings;
    settings.time_ms = turn_ms;
    settings.warm_up_ms = 1;
    settings.repetitions = 1;
    settings.counters = false;
    return measure(*this, settings, timeline).ns_per_call.at(0);
  }

 private:
  Test test_;
};

template <class Loop>
double by_hand_ns(Loop loop, int calls) {
  const RealClock clock;
  const TimePoint begin = clock.now();
  loop(calls);
  return static_cast<double>((clock.now() - begin).count()) / calls;
}

void empty_by_hand(int calls) {
  for (int i = 0; i < calls; ++i) clobber_memory();
}
void getppid_by_hand(int calls) {
  for (int i = 0; i < calls; ++i) ::getppid();
}

#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
void empty_benchmark(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) clobber_memory();
}
void getppid_benchmark(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) ::getppid();
}

// Keeps the last time and prints nothing.
class Keep final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) ns = run.GetAdjustedRealTime();
  }
  double ns = 0;
};

double google_ns(const char* name) {
  Keep keep;
  benchmark::RunSpecifiedBenchmarks(&keep, name);
  return keep.ns;
}
#endif

struct Turns {
  std::vector<double> perftest, by_hand, google;
};

// The least of each, which is what is left when nothing else runs, and how far they are apart.
// Calls of the system vary by more than a nanosecond: `slack` is what is put down to that.
void show(const char* name, const Turns& turns, double slack) {
  const double perftest = std::ranges::min(turns.perftest);
  const double by_hand = std::ranges::min(turns.by_hand);
  fmt::print("{:>11}: perftest {:.2f} ns, by hand {:.2f} ns, Google Benchmark {}\n", name, perftest,
             by_hand,
             turns.google.empty() ? "not built"
                                  : fmt::format("{:.2f} ns", std::ranges::min(turns.google)));
  EXPECT_LT(perftest - by_hand, 1 + slack * by_hand) << name;
}

TEST(Overhead, IsBelowANanosecond) {
  LoopOf<SENNIT_PERF_CLASS(Overhead, EmptyBody)> empty;
  LoopOf<SENNIT_PERF_CLASS(Overhead, Getppid)> getppid;
  Turns empty_turns, getppid_turns;
#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
  benchmark::RegisterBenchmark("empty", empty_benchmark)->MinTime(turn_ms / 1e3);
  benchmark::RegisterBenchmark("getppid", getppid_benchmark)->MinTime(turn_ms / 1e3);
#endif
  for (int round = 0; round < rounds; ++round) {
    empty_turns.perftest.push_back(empty.ns_per_call());
    empty_turns.by_hand.push_back(by_hand_ns(empty_by_hand, 4'000'000));
    getppid_turns.perftest.push_back(getppid.ns_per_call());
    getppid_turns.by_hand.push_back(by_hand_ns(getppid_by_hand, 20'000));
#if defined(SENNIT_HAS_GOOGLE_BENCHMARK)
    empty_turns.google.push_back(google_ns("empty"));
    getppid_turns.google.push_back(google_ns("getppid"));
#endif
  }
  show("empty body", empty_turns, 0);
  show("getppid", getppid_turns, 0.02);
}

}  // namespace
}  // namespace sennit::perftest
