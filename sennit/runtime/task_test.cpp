#include "sennit/runtime/task.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using testing::Signal;
using testing::StackSpread;

class TaskTest : public testing::ManualWorkerTest {};
using TaskDeathTest = TaskTest;

Task<int> fails(Signal* signal) {
  if (signal != nullptr) co_await *signal;
  throw std::runtime_error("failed");
}
Task<int> answer(int value) { co_return value; }
Task<int> answer_of(Signal& signal) { co_return co_await signal; }

// Whether it fails at once or after waiting; to a fiber or to a coroutine.
TEST_F(TaskTest, ThrowsItsExceptionToWhoeverWaits) {
  for (const bool waits : {false, true}) {
    SCOPED_TRACE(waits);
    Signal signal;
    int caught = 0;
    const auto caught_in_coroutine = [&]() -> Task<> {
      try {
        co_await fails(waits ? &signal : nullptr);
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "failed");
        ++caught;
      }
    };
    run(
        [&] {
          EXPECT_THROW(wait(fails(waits ? &signal : nullptr)), std::runtime_error);
          wait(caught_in_coroutine());
        },
        [&] {
          if (signal.is_awaited()) signal.give(1);
        });
    EXPECT_EQ(caught, 1);
  }
}

TEST_F(TaskTest, ReturnsValuesOfEveryKind) {
  run([&] {
    EXPECT_EQ(wait(answer(42)), 42);
    const auto owner = [](int value) -> Task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(value);
    };
    EXPECT_EQ(*wait(owner(7)), 7);
    const auto converted = []() -> Task<std::string> { co_return "text"; };
    EXPECT_EQ(wait(converted()), "text");
    const auto nested = [&]() -> Task<int> {
      const auto held = co_await owner(1);
      co_return *held + co_await answer(2);
    };
    EXPECT_EQ(wait(nested()), 3);
  });
}

TEST_F(TaskTest, StartsWhenItIsFirstWaitedFor) {
  run([&] {
    int steps = 0;
    const auto step = [&]() -> Task<> {
      ++steps;
      co_return;
    };
    Task<> task = step();
    wait(yield());
    EXPECT_EQ(steps, 0);
    Task<> moved = std::move(task);
    wait(moved);
    EXPECT_EQ(steps, 1);
    {
      const Task<> never_started = step();
    }
    EXPECT_EQ(steps, 1);
  });
}

TEST_F(TaskTest, DestroysItsFrameOnceWhereverItEnds) {
  const auto counted = std::make_shared<int>();
  const auto hold = [](std::shared_ptr<int>, Signal* signal) -> Task<> {
    if (signal != nullptr) co_await *signal;
  };
  Signal signal;
  run(
      [&] {
        {
          const Task<> never_started = hold(counted, nullptr);
        }
        EXPECT_EQ(counted.use_count(), 1);
        wait(hold(counted, nullptr));
        EXPECT_EQ(counted.use_count(), 1);
        wait(hold(counted, &signal));
        EXPECT_EQ(counted.use_count(), 1);
        Task<> assigned = hold(counted, nullptr);
        assigned = hold(counted, nullptr);
        EXPECT_EQ(counted.use_count(), 2);
      },
      [&] {
        if (signal.is_awaited()) signal.give(0);
      });
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_F(TaskTest, KeepsTheStackFlatWhenAMillionEndAtOnce) {
  run([&] {
    StackSpread spread;
    const auto child = [&](int value) -> Task<int> {
      spread.note();
      co_return value;
    };
    const auto parent = [&]() -> Task<long> {
      long sum = 0;
      for (int i = 0; i < 1'000'000; ++i) sum += co_await child(1);
      co_return sum;
    };
    EXPECT_EQ(wait(parent()), 1'000'000);
    EXPECT_LT(spread.bytes(), 1024U);
  });
}

Task<int> depth(int levels, StackSpread& spread) {
  spread.note();
  if (levels == 0) co_return 0;
  const int below = co_await depth(levels - 1, spread);
  spread.note();
  co_return below + 1;
}

TEST_F(TaskTest, KeepsTheStackFlatWhenTheyAwaitEachOtherDeeply) {
  run([&] {
    StackSpread spread;
    EXPECT_EQ(wait(depth(100'000, spread)), 100'000);
    EXPECT_LT(spread.bytes(), 1024U);
  });
}

// Coroutine, fiber, coroutine, fiber: each waits, and each goes on where it was.
TEST_F(TaskTest, NestsWithFibersToAnyDepth) {
  struct OnFiber : FiberJob {
    explicit OnFiber(std::function<void()> b)
        : FiberJob([](FiberJob& job) noexcept { static_cast<OnFiber&>(job).body(); },
                   [](FiberJob& job) noexcept {
                     auto& self = static_cast<OnFiber&>(job);
                     self.is_done = true;
                     if (self.done.is_awaited()) self.done.give(0);
                   }),
          body(std::move(b)) {}
    std::function<void()> body;
    Signal done;
    bool is_done = false;
  };
  std::string trace;
  const auto inner = [&](Signal& signal) -> Task<int> {
    trace += "c";
    const int value = co_await signal;
    trace += "d";
    co_return value + co_await answer(1);
  };
  const auto outer = [&](Signal& signal) -> Task<int> {
    trace += "a";
    int heard = 0;
    OnFiber on_fiber([&] {
      trace += "b";
      heard = wait(inner(signal));
      trace += "e";
    });
    EXPECT_TRUE(Worker::here().run_on_fiber(on_fiber).has_value());
    trace += "-";
    EXPECT_TRUE(Worker::here().is_in_coroutine());
    if (!on_fiber.is_done) co_await on_fiber.done;
    trace += "f";
    co_return heard;
  };
  Signal signal;
  run([&] { EXPECT_EQ(wait(outer(signal)), 42); },
      [&] {
        if (signal.is_awaited()) signal.give(41);
      });
  EXPECT_EQ(trace, "abc-def");
}

TEST_F(TaskTest, WaitsForWhatFibersDo) {
  run([&] {
    const auto sum_of_fibers = []() -> Task<int> {
      Scope scope;
      int sum = 0;
      for (int i = 1; i <= 10; ++i) {
        scope.spawn([&sum, i] {
          wait(yield());
          sum += wait(answer(i));
        });
      }
      co_await scope.join();
      co_return sum;
    };
    EXPECT_EQ(wait(sum_of_fibers()), 55);
  });
}

TEST_F(TaskDeathTest, StopsAtMisuse) {
  struct Case {
    const char* message;
    std::function<void()> misuse;
  };
  static Signal never;
  for (const auto& [message, misuse] : {
           Case{"must not be destroyed while it waits",
                [&] {
                  Scope scope;
                  auto task = std::make_unique<Task<int>>(answer_of(never));
                  scope.spawn([&] { wait(*task); });
                  wait(yield());
                  wait(yield());
                  task.reset();
                }},
           Case{"started_",
                [&] {
                  Task<int> task = answer(1);
                  wait(task);
                  wait(task);
                }},
           Case{"in a coroutine use co_await",
                [&] {
                  const auto confused = []() -> Task<int> { co_return wait(answer(1)); };
                  wait(confused());
                }},
       }) {
    EXPECT_DEATH(run(misuse), message);
  }
  Task<int> task = answer(1);
  EXPECT_DEATH(wait(task), "inside Runtime::run");
}

}  // namespace
}  // namespace sennit::runtime
