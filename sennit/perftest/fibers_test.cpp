#include "sennit/perftest/fibers.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <set>
#include <utility>

#include "sennit/base/log.hpp"
#include "sennit/perftest/measure.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::perftest {
namespace {

using std::chrono::milliseconds;

class FiberBody final : public Body {
 public:
  explicit FiberBody(std::function<void(const Thread&)> call) : call_(std::move(call)) {}
  void run(Batch& batch) override {
    for (; batch.left > 0 && !batch.stopped(); --batch.left) call_(batch.thread);
  }

 private:
  std::function<void(const Thread&)> call_;
};

Settings fiber_settings(int fibers) {
  log::set_level(log::Level::warning);
  Settings settings;
  settings.time_ms = 20;
  settings.warm_up_ms = 0;
  settings.repetitions = 1;
  settings.counters = false;
  settings.fibers = fibers;
  return settings;
}

Measurement measure_on_fibers(Body& body, const Settings& settings) {
  const Stage stage = make_fiber_stage(settings.threads);
  return measure(body, settings, *stage.crew, *stage.timeline);
}

// The first calls wait for each other: they end only if all take part.
TEST(Fibers, CallTheBodyAtOnce) {
  std::set<int> seen;
  FiberBody body([&](const Thread& thread) {
    EXPECT_EQ(thread.count, 3);
    seen.insert(thread.index);
    while (seen.size() < 3) static_cast<void>(wait(yield()));
  });
  const Measurement result = measure_on_fibers(body, fiber_settings(3));
  EXPECT_GT(result.calls, 0U);
  EXPECT_EQ(seen, (std::set<int>{0, 1, 2}));
}

// Time passes only in the body.
class BodyTimeline final : public Timeline {
 public:
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
  void sleep_until(TimePoint) override { FAIL() << "nobody sleeps here"; }
  void advance(Duration by) { clock_.advance(by); }

 private:
  ManualClock clock_;
};

TEST(Fibers, ShareTheWorkerWithABodyThatNeverWaits) {
  const Stage stage = make_fiber_stage(1);
  BodyTimeline timeline;
  int last = -1, changes = 0;
  FiberBody body([&](const Thread& thread) {
    changes += std::exchange(last, thread.index) != thread.index;
    timeline.advance(std::chrono::microseconds(1));
  });
  Settings settings = fiber_settings(4);
  EXPECT_GT(measure(body, settings, *stage.crew, timeline).calls, 1000U);
  EXPECT_GT(changes, 100);  // Of 20,000 calls, in turns of some 50.
  settings.time_ms = 3;
  settings.latency = true;
  changes = 0;
  const Measurement timed = measure(body, settings, *stage.crew, timeline);
  EXPECT_GT(changes, 900);  // Each call that is timed alone gives way.
  EXPECT_GE(timed.latency_ns->count(), 1000U);
}

TEST(Fibers, WaitSideBySide) {
  std::atomic<int> inside = 0, most_inside = 0;
  FiberBody body([&](const Thread&) {
    ++inside;
    if (inside > most_inside) most_inside = inside.load();
    static_cast<void>(wait(sleep_for(milliseconds(1))));
    --inside;
  });
  const Measurement result = measure_on_fibers(body, fiber_settings(4));
  EXPECT_GT(result.calls, 0U);
  EXPECT_EQ(most_inside, 4);
}

TEST(Fibers, KeepAFixedRate) {
  FiberBody body([](const Thread&) {});
  Settings settings = fiber_settings(2);
  settings.hz = 1000;
  settings.latency = true;
  const Measurement result = measure_on_fibers(body, settings);
  EXPECT_LE(result.calls, 20U);  // A slow machine makes fewer in the time.
  EXPECT_EQ(result.latency_ns->count(), result.calls);
}

TEST(Fibers, AreDealtOutToSeveralWorkers) {
  std::array<std::atomic<int>, 4> worker_of{};
  for (auto& worker : worker_of) worker = -1;
  FiberBody body([&](const Thread& thread) {
    EXPECT_EQ(thread.count, 4);
    worker_of[static_cast<std::size_t>(thread.index)] =
        static_cast<int>(runtime::Worker::here().index());
  });
  Settings settings = fiber_settings(2);
  settings.threads = 2;
  EXPECT_GT(measure_on_fibers(body, settings).calls, 0U);
  EXPECT_EQ(worker_of[0], 0);
  EXPECT_EQ(worker_of[1], 1);
  EXPECT_EQ(worker_of[2], 0);
  EXPECT_EQ(worker_of[3], 1);
}

PERF_TEST_WITH(FibersPerf, RunABodyThatMayWait, .time_ms = 5, .fibers = 3) {
  EXPECT_EQ(perf_thread.count, 3);
  static_cast<void>(wait(yield()));
}

}  // namespace
}  // namespace sennit::perftest
