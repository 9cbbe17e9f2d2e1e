#include "sennit/runtime/sleep.hpp"

#include <algorithm>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

constexpr Duration one_tick(1 << 16);

class SleepTest : public testing::ManualWorkerTest {};

TEST_F(SleepTest, EndsNeverEarlyAndATickLateAtMost) {
  for (const Duration delay : {Duration(1ns), Duration(50us), Duration(1ms), Duration(24h)}) {
    SCOPED_TRACE(delay.count());
    TimePoint due, ended;
    run(
        [&] {
          due = clock().now() + delay;
          wait(sleep_for(delay));
          ended = clock().now();
        },
        [&] { clock().advance(std::max(delay / 1000, Duration(1ns))); });
    EXPECT_GE(ended, due);
    EXPECT_LE(ended, due + 2 * one_tick + 2 * (delay / 1000));
  }
}

TEST_F(SleepTest, GivesWayOnceWhenThereIsNothingToSleep) {
  int turns = 0;
  const auto one_turn = [&](auto sleep) {
    const int before = turns;
    wait(sleep());
    EXPECT_LE(turns - before, 2);
    EXPECT_GE(turns - before, 1);
  };
  run(
      [&] {
        one_turn([] { return sleep_for(0ns); });
        one_turn([] { return sleep_for(-1h); });
        one_turn([] { return sleep_until(TimePoint::min()); });
        one_turn([&] { return sleep_until(clock().now()); });
        one_turn([&] { return sleep_until(clock().now() - 1h); });
        one_turn([] { return yield(); });
      },
      [&] { ++turns; });
}

TEST_F(SleepTest, CountsFromWhenItIsWaitedFor) {
  run(
      [&] {
        auto sleep = sleep_for(10s);
        wait(sleep_for(1h));
        const TimePoint before = clock().now();
        wait(sleep);
        EXPECT_GE(clock().now() - before, 10s);
        wait(sleep);
        EXPECT_GE(clock().now() - before, 20s) << "it can be waited for again";
      },
      [&] { clock().advance(1s); });
}

TEST_F(SleepTest, SurvivesJumpsOfTheClock) {
  std::vector<int> woken;
  run(
      [&] {
        Scope scope;
        for (const int hours : {3, 1, 2}) {
          scope.spawn([&, hours]() -> Task<> {
            co_await sleep_for(std::chrono::hours(hours));
            woken.push_back(hours);
          });
        }
        wait(scope.join());
      },
      [&] {
        clock().step_wall(-24h);  // Means nothing to a sleep.
        clock().advance(100min);  // Over several timers at once, and past them.
      });
  EXPECT_EQ(woken, (std::vector{1, 2, 3}));
}

TEST_F(SleepTest, OutlastsTheLargestDelays) {
  bool slept = false;
  make({});
  Task<> forever = [](bool& done) -> Task<> {
    co_await sleep_for(Duration::max() / 2);
    done = true;
  }(slept);
  run(
      [&] {
        Scope scope;
        scope.spawn([&]() -> Task<> { co_await std::move(forever); });
        wait(scope.join());
      },
      [&] { clock().advance(Duration::max() / 16); });
  EXPECT_TRUE(slept);
}

class SleepOnBackendTest : public testing::BackendTest {};

TEST_P(SleepOnBackendTest, TakesAsLongAsItShould) {
  runtime().run([] {
    const Clock& clock = Worker::here().clock();
    for (const Duration delay : {Duration(100us), Duration(1ms), Duration(3ms)}) {
      const TimePoint before = clock.now();
      wait(sleep_for(delay));
      EXPECT_GE(clock.now() - before, delay);
    }
  });
}

TEST_P(SleepOnBackendTest, WakesManySleepersInOrder) {
  runtime().run([] {
    constexpr int count = 200;
    std::vector<TimePoint> ends;
    Scope scope;
    const TimePoint start = Worker::here().clock().now();
    for (int i = 0; i < count; ++i) {
      scope.spawn([&, due = start + (count - i) * 20us]() -> Task<> {
        co_await sleep_until(due);
        EXPECT_GE(Worker::here().clock().now(), due);
        ends.push_back(due);
      });
    }
    wait(scope.join());
    EXPECT_EQ(ends.size(), static_cast<std::size_t>(count));
  });
}

SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(SleepOnBackendTest);

TEST_F(SleepTest, DrawsTheSameRandomTimesFromTheSameSeed) {
  std::vector<Duration> drawn[2];
  for (auto& times : drawn) {
    make({.seed = 42});
    run([&] {
      for (int i = 0; i < 100; ++i) times.push_back(random_ms(10, 50));
    });
    EXPECT_GE(*std::min_element(times.begin(), times.end()), 10ms);
    EXPECT_LE(*std::max_element(times.begin(), times.end()), 50ms);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_DEATH(static_cast<void>(random_ms(1, 2)), "worker");
}

}  // namespace
}  // namespace sennit::runtime
