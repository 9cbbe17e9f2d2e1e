#include "sennit/runtime/watchdog.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

TEST(TurnWatch, ReportsATurnOnceWhenItHasLastedTooLong) {
  TurnWatch watch(10ms);
  const TimePoint begin(1s);
  struct Case {
    std::uint64_t turn;
    Duration at, reported;
  };
  for (const auto& [turn, at, reported] : {
           Case{0, 0ms, 0ms},
           Case{0, 100ms, 0ms},  // It sleeps.
           Case{7, 101ms, 0ms},
           Case{7, 110ms, 0ms},
           Case{7, 112ms, 11ms},
           Case{7, 150ms, 0ms},
           Case{8, 151ms, 0ms},
           Case{0, 200ms, 0ms},
           Case{8, 210ms, 0ms},
           Case{8, 221ms, 11ms},
       }) {
    EXPECT_EQ(watch.observe(turn, begin + at).count(), Duration(reported).count()) << at.count();
  }
}

TEST(HeldWorker, SaysWhoHoldsIt) {
  HeldWorker held;
  held.worker = 2;
  held.held = 1500ms;
  EXPECT_EQ(to_string(held), "worker 2 has been held for 1500 ms by a job or a completion");
  held.activity = 9;
  held.name = "resize";
  held.stack = {"inner", "outer"};
  EXPECT_EQ(to_string(held),
            "worker 2 has been held for 1500 ms by activity 9 'resize'\n  inner\n  outer");
}

class WatchdogTest : public testing::BackendTest {
 protected:
  /// Reports until the test takes them.
  [[nodiscard]] WatchdogOptions collecting() {
    WatchdogOptions wanted;
    wanted.threshold = 5ms;
    wanted.report = [this](const HeldWorker& held) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(held);
      ++count_;
    };
    return wanted;
  }
  /// Holds the calling worker until there is a report of it.
  void hold() {
    const RealClock clock;
    const Deadline deadline = Deadline::after(60s, clock);
    const unsigned own = Worker::here().index();
    while (!has_report_of(own) && !deadline.expired(clock.now())) {
    }
  }
  bool has_report_of(unsigned worker) {
    return find(worker, [](const HeldWorker&) { return true; }).has_value();
  }
  template <class Fits>
  std::optional<HeldWorker> find(unsigned worker, Fits fits) {
    const std::lock_guard lock(mutex_);
    for (const HeldWorker& held : reports_) {
      if (held.worker == worker && fits(held)) return held;
    }
    return std::nullopt;
  }

  std::mutex mutex_;
  std::vector<HeldWorker> reports_;
  std::atomic<int> count_ = 0;
};

TEST_P(WatchdogTest, NamesTheFiberThatHoldsItsWorker) {
  Watchdog watchdog(runtime(), collecting());
  ActivityId own = 0;
  runtime().run(
      [&] {
        Activity::here().set_name("spinner");
        own = Activity::here().id();
        hold();
      },
      1);
  const auto held = find(1, [&](const HeldWorker& each) { return each.activity == own; });
  ASSERT_TRUE(held.has_value()) << count_ << " reports";
  EXPECT_EQ(held->name, "spinner");
  EXPECT_GE(held->held, 5ms);
  EXPECT_FALSE(held->stack.empty());
}

TEST_P(WatchdogTest, NamesTheTaskThatHoldsItsWorker) {
  Watchdog watchdog(runtime(), collecting());
  ActivityId own = 0;
  runtime().run([&] {
    Scope scope;
    scope.spawn([&]() -> Task<> {
      Activity::here().set_name("coroutine");
      own = Activity::here().id();
      hold();
      co_return;
    });
    wait(scope.join());
  });
  const auto held = find(0, [&](const HeldWorker& each) { return each.activity == own; });
  ASSERT_TRUE(held.has_value()) << count_ << " reports";
  EXPECT_EQ(held->name, "coroutine");
}

SENNIT_FOR_EACH_BACKEND(WatchdogTest);

TEST(WatchdogSimulation, WatchesNobodyWhereNothingTakesTime) {
  RuntimeOptions options;
  options.backend = io::BackendKind::simulated;
  auto runtime = *Runtime::start(options);
  Watchdog watchdog(*runtime, {});
  runtime->run([] { wait(sleep_for(1h)); });
}

}  // namespace
}  // namespace sennit::runtime
