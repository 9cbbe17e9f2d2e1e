#include "sennit/runtime/scope.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

class ScopeTest : public testing::ManualWorkerTest {};
using ScopeDeathTest = ScopeTest;

TEST_F(ScopeDeathTest, StopsAtMisuse) {
  struct Case {
    const char* message;
    std::function<void()> misuse;
  };
  for (const auto& [message, misuse] : {
           Case{"before it ends",
                [] {
                  Scope scope;
                  scope.spawn([] {});
                }},
           Case{"one join at a time",
                [] {
                  Scope scope;
                  scope.spawn([&] { wait(scope.join()); });
                  wait(scope.join());
                }},
           Case{"what was spawned threw",
                [] {
                  Scope scope;
                  scope.spawn([] { throw std::runtime_error("nobody asks"); });
                  while (scope.running_count() > 0) wait(yield());
                }},
       }) {
    EXPECT_DEATH(run(misuse), message);
  }
  EXPECT_DEATH(Scope(), "inside Runtime::run");
}

TEST_F(ScopeTest, JoinsAtOnceWhenNothingRuns) {
  run([] {
    Scope scope;
    wait(scope.join());
    scope.spawn([] {});
    wait(scope.join());
    wait(scope.join());
  });
}

TEST_F(ScopeTest, RunsBothKindsSideBySideFromTheNextTurnOn) {
  run([] {
    std::string trace;
    Scope scope;
    scope.spawn([&] {
      trace += "1";
      wait(yield());
      trace += "4";
    });
    scope.spawn([&]() -> Task<> {
      trace += "2";
      co_await yield();
      trace += "5";
    });
    scope.spawn([&] { trace += "3"; });
    EXPECT_EQ(trace, "");
    EXPECT_EQ(scope.running_count(), 3U);
    wait(scope.join());
    EXPECT_EQ(trace, "12345");
    EXPECT_EQ(scope.running_count(), 0U);
  });
}

TEST_F(ScopeTest, KeepsWhatAFunctionCapturedUntilItIsDone) {
  run([] {
    const auto counted = std::make_shared<int>();
    {
      Scope scope;
      for (int i = 0; i < 3; ++i) {
        scope.spawn([counted]() -> Task<> {
          co_await yield();
          ++*counted;
        });
        scope.spawn([counted] {
          wait(yield());
          ++*counted;
        });
      }
      EXPECT_EQ(counted.use_count(), 7);
      wait(scope.join());
    }
    EXPECT_EQ(*counted, 6);
    EXPECT_EQ(counted.use_count(), 1);
  });
}

TEST_F(ScopeTest, JoinsWhatIsSpawnedWhileItIsJoined) {
  run([] {
    int ran = 0;
    Scope scope;
    std::function<void(int)> spawn = [&](int more) {
      ++ran;
      wait(yield());
      if (more > 0) scope.spawn([&spawn, more] { spawn(more - 1); });
    };
    scope.spawn([&] { spawn(9); });
    wait(scope.join());
    EXPECT_EQ(ran, 10);
  });
}

TEST_F(ScopeTest, RunsWithAsManyStacksAsThereAre) {
  make({.stacks = {.usable_bytes = std::size_t{128} * 1024, .on_loan_max = 3}});
  std::size_t busiest = 0;
  int ran = 0, turns = 0;
  run(
      [&] {
        Scope scope;
        for (int i = 0; i < 50; ++i) {
          scope.spawn([&] {
            busiest = std::max(busiest, Worker::here().busy_fiber_count());
            wait(yield());
            ++ran;
          });
        }
        wait(scope.join());
      },
      [&] { ++turns; });
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(busiest, 3U);
  EXPECT_LT(turns, 200);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int scope_test_many = 20'000;
#elif defined(__has_feature)
constexpr int scope_test_many =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ? 20'000 : 1'000'000;
#else
constexpr int scope_test_many = 1'000'000;
#endif

TEST_F(ScopeTest, HoldsAMillionTasksAtOnce) {
  run([] {
    int waiting = 0, ended = 0;
    Scope scope;
    for (int i = 0; i < scope_test_many; ++i) {
      scope.spawn([&]() -> Task<> {
        ++waiting;
        co_await yield();
        EXPECT_EQ(waiting, scope_test_many);
        ++ended;
      });
    }
    wait(scope.join());
    EXPECT_EQ(ended, scope_test_many);
  });
}

TEST_F(ScopeTest, EndsAMillionTasksWhenItIsCancelled) {
  run([] {
    int cancelled = 0;
    Scope scope;
    for (int i = 0; i < scope_test_many; ++i) {
      scope.spawn([&]() -> Task<> {
        const Result<void> slept = co_await sleep_for(std::chrono::hours(1));
        cancelled += !slept;
      });
    }
    wait(yield());
    scope.cancel();
    wait(scope.join());
    EXPECT_EQ(cancelled, scope_test_many);
  });
}

TEST_F(ScopeTest, RunsAMillionFibersOnAFewStacks) {
  make({.stacks = {.usable_bytes = std::size_t{128} * 1024, .on_loan_max = 64}});
  run([] {
    int ended = 0;
    Scope scope;
    for (int i = 0; i < scope_test_many; ++i) scope.spawn([&] { ++ended; });
    wait(scope.join());
    EXPECT_EQ(ended, scope_test_many);
  });
}

}  // namespace
}  // namespace sennit::runtime
