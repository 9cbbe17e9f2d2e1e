#include "sennit/perftest/measure.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <utility>
#include <vector>

#include "sennit/perftest/do_not_optimize.hpp"

namespace sennit::perftest {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Time passes only where a test says so.
class ManualTimeline final : public Timeline {
 public:
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
  void sleep_until(TimePoint instant) override {
    if (instant > now()) clock_.advance(instant - now());
  }
  void advance(Duration by) { clock_.advance(by); }

 private:
  ManualClock clock_;
};

class CallBody final : public Body {
 public:
  explicit CallBody(std::function<void(CallBody&, const Thread&)> call) : call_(std::move(call)) {}

  void run(Batch& batch) override {
    for (; batch.left > 0 && !batch.stopped(); --batch.left) {
      call_(*this, batch.thread);
      ++calls;
    }
  }
  [[nodiscard]] bool failed() const override { return has_failed; }

  std::atomic<std::uint64_t> calls = 0;
  bool has_failed = false;

 private:
  std::function<void(CallBody&, const Thread&)> call_;
};

Settings settings_of(int time_ms) {
  Settings settings;
  settings.time_ms = time_ms;
  settings.counters = false;
  return settings;
}

TEST(Measure, FindsWhatACallTakes) {
  ManualTimeline timeline;
  CallBody body([&](CallBody&, const Thread&) { timeline.advance(nanoseconds(250)); });
  const Measurement result = measure(body, settings_of(100), timeline);
  EXPECT_NEAR(static_cast<double>(result.calls), 400'000, 4000);
  EXPECT_EQ(result.time, nanoseconds(250) * result.calls);
  EXPECT_DOUBLE_EQ(result.hz(), 4e6);
  EXPECT_EQ(result.ns_per_call, std::vector<double>(5, 250.0));
  EXPECT_FALSE(result.aborted);
  EXPECT_GT(body.calls, result.calls);  // The warm-up is not counted.
}

TEST(Measure, DoesNotRepeatWhatTakesTheWholeTime) {
  ManualTimeline timeline;
  CallBody body([&](CallBody&, const Thread&) { timeline.advance(milliseconds(500)); });
  const Measurement result = measure(body, settings_of(1000), timeline);
  EXPECT_EQ(result.calls, 2U);
  EXPECT_EQ(result.time, milliseconds(1000));
}

TEST(Measure, StopsAtOnceWhenAborted) {
  ManualTimeline timeline;
  CallBody body([&](CallBody& self, const Thread&) {
    timeline.advance(microseconds(1));
    if (self.calls == 1234) self.abort();
  });
  const Measurement result = measure(body, settings_of(1000), timeline);
  EXPECT_TRUE(result.aborted);
  EXPECT_EQ(body.calls, 1235U);
  EXPECT_EQ(result.calls, 1235U);
  EXPECT_EQ(result.time, microseconds(1235));
}

TEST(Measure, StopsAfterTheBatchThatFailed) {
  ManualTimeline timeline;
  CallBody body([&](CallBody& self, const Thread&) {
    timeline.advance(milliseconds(1));
    self.has_failed = true;
  });
  const Measurement result = measure(body, settings_of(1000), timeline);
  EXPECT_TRUE(result.aborted);
  EXPECT_EQ(body.calls, 1U);
}

TEST(Measure, KeepsAFixedRate) {
  ManualTimeline timeline;
  CallBody body([&](CallBody&, const Thread&) { timeline.advance(microseconds(1)); });
  Settings settings = settings_of(1000);
  settings.hz = 10'000;
  settings.latency = true;
  const Measurement result = measure(body, settings, timeline);
  EXPECT_EQ(result.calls, 10'000U);
  EXPECT_DOUBLE_EQ(result.hz(), 10'000);
  EXPECT_EQ(body.calls - result.allocation_calls, 10'000U);  // No warm-up at a rate.
  ASSERT_TRUE(result.latency_ns.has_value());
  EXPECT_EQ(result.latency_ns->count(), 10'000U);
  EXPECT_EQ(result.latency_ns->max(), 1000);
}

// One call of 10 ms delays the nine that were due meanwhile; their latency says so.
TEST(Measure, TakesLatencyFromWhenACallWasDue) {
  ManualTimeline timeline;
  CallBody body([&](CallBody& self, const Thread&) {
    timeline.advance(self.calls == 50 ? milliseconds(10) : microseconds(1));
  });
  Settings settings = settings_of(1000);
  settings.hz = 1000;
  settings.repetitions = 1;
  settings.latency = true;
  const Measurement result = measure(body, settings, timeline);
  EXPECT_EQ(result.calls, 1000U);
  EXPECT_EQ(result.latency_ns->max(), 10'000'000);
  EXPECT_EQ(result.latency_ns->count() - result.latency_ns->count_up_to(500'000), 10U);
}

TEST(Measure, TimesEachCallInAPassOfItsOwn) {
  ManualTimeline timeline;
  CallBody body([&](CallBody& self, const Thread&) {
    timeline.advance(self.calls % 100 == 0 ? microseconds(50) : microseconds(1));
  });
  Settings settings = settings_of(300);
  settings.latency = true;
  const Measurement result = measure(body, settings, timeline);
  ASSERT_TRUE(result.latency_ns.has_value());
  EXPECT_EQ(result.latency_ns->percentile(50), 1000);
  EXPECT_EQ(result.latency_ns->percentile(98), 1000);
  EXPECT_EQ(result.latency_ns->max(), 50'000);
}

TEST(Measure, CountsAllocationsWhereTheProgramDoes) {
  if (!allocations_are_counted()) GTEST_SKIP() << "this build does not count them";
  ManualTimeline timeline;
  CallBody body([&](CallBody&, const Thread&) {
    timeline.advance(microseconds(100));
    std::unique_ptr<char[]> memory(new char[48]);
    do_not_optimize(memory);
  });
  const Measurement result = measure(body, settings_of(10), timeline);
  ASSERT_TRUE(result.allocations.has_value());  // allocations_test.cpp replaced operator new.
  EXPECT_EQ(result.allocations->count, result.allocation_calls);
  EXPECT_EQ(result.allocations->bytes, 48 * result.allocation_calls);
}

TEST(Measure, CallsFromSeveralThreadsAtOnce) {
  RealTimeline timeline;
  std::atomic<int> seen[3] = {0, 0, 0};
  CallBody body([&](CallBody&, const Thread& thread) {
    EXPECT_EQ(thread.count, 3);
    ++seen[thread.index];
  });
  Settings settings = settings_of(10);
  settings.threads = 3;
  settings.warm_up_ms = 1;
  const Measurement result = measure(body, settings, timeline);
  EXPECT_GT(result.calls, 0U);
  EXPECT_GE(static_cast<std::uint64_t>(seen[0] + seen[1] + seen[2]), result.calls);
  for (const std::atomic<int>& calls : seen) EXPECT_GT(calls, 0);
}

TEST(Measure, SaysWhyThereAreNoCounters) {
  ManualTimeline timeline;
  CallBody body([&](CallBody&, const Thread&) { timeline.advance(microseconds(1)); });
  const Measurement result = measure(body, settings_of(1), timeline);
  EXPECT_FALSE(result.counters_per_call.instructions.has_value());
  EXPECT_NE(result.counters_unavailable.find("not asked to"), std::string::npos);
}

}  // namespace
}  // namespace sennit::perftest
