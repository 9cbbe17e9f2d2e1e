#include "sennit/runtime/wait.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

class WaitTest : public testing::ManualWorkerTest {};
using WaitDeathTest = WaitTest;

/// Writes down which of the three calls were made.
struct Scripted {
  bool is_ready, starts;
  std::string calls;
  std::string text = "result";

  bool ready() {
    calls += "r";
    return is_ready;
  }
  bool start(Waiter& waiter) {
    calls += "s";
    if (starts) waiter.wake();  // As an awaitable may whose result is there soon after.
    return starts;
  }
  std::string& take() {
    calls += "t";
    return text;
  }
};

TEST_F(WaitTest, CallsReadyStartTakeAsFarAsNeededOnBothKinds) {
  struct Case {
    bool is_ready, starts;
    const char* calls;
  };
  for (const auto& [is_ready, starts, calls] : {
           Case{true, false, "rt"},
           Case{false, false, "rst"},
           Case{false, true, "rst"},
       }) {
    SCOPED_TRACE(calls);
    Scripted on_fiber{is_ready, starts, "", "fiber"}, in_task{is_ready, starts, "", "task"};
    run([&] {
      std::string& result = wait(on_fiber);
      EXPECT_EQ(&result, &on_fiber.text) << "a reference stays one";
      const auto task = [&]() -> Task<> {
        std::string& awaited = co_await in_task;
        EXPECT_EQ(&awaited, &in_task.text);
      };
      wait(task());
    });
    EXPECT_EQ(on_fiber.calls, calls);
    EXPECT_EQ(in_task.calls, calls);
  }
}

TEST_F(WaitTest, KeepsExceptionsApartWhileFibersWaitInHandlers) {
  const auto rethrow_after_waiting = [](const char* text) {
    try {
      try {
        throw std::runtime_error(text);
      } catch (const std::runtime_error&) {
        wait(yield());
        throw;
      }
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), text);
    }
  };
  run([&] {
    Scope scope;
    for (const char* text : {"one", "two", "three"}) {
      scope.spawn([&, text] { rethrow_after_waiting(text); });
    }
    wait(scope.join());
  });
}

TEST_F(WaitDeathTest, StopsWhereThereIsNoFiber) {
  EXPECT_DEATH(wait(sleep_for(Duration::zero())), "call it inside Runtime::run");
  const auto in_a_job = [&] {
    worker().post([] { wait(yield()); });
    run([] {});
  };
  EXPECT_DEATH(in_a_job(), "needs a fiber");
}

/// Hands a wake-up from one thread to another: give() on one, wait on the other.
class Baton {
 public:
  bool ready() { return false; }
  bool start(Waiter& waiter) {
    Waiter* seen = nullptr;
    if (holder_.compare_exchange_strong(seen, &waiter)) return true;
    holder_.store(nullptr);  // It was given before.
    return false;
  }
  void take() {}
  void give() {
    Waiter* waiter = nullptr;
    if (holder_.compare_exchange_strong(waiter, given())) return;
    if (waiter == given()) return;  // Twice before anybody came: it counts once.
    holder_.store(nullptr);
    waiter->wake();
  }

 private:
  Waiter* given() { return reinterpret_cast<Waiter*>(this); }
  std::atomic<Waiter*> holder_ = nullptr;  // Null, given(), or who waits.
};

class WaitAcrossTest : public testing::BackendTest {};

TEST_P(WaitAcrossTest, IsWokenByAPlainThread) {
  Baton to_fiber, to_task;
  std::thread giver([&] {
    for (int i = 0; i < 200; ++i) {
      to_fiber.give();
      std::this_thread::yield();
    }
  });
  giver.join();
  std::atomic<int> asked = 0;
  std::thread answering([&] {
    for (int answered = 0; answered < 400; ++answered) {
      while (asked.load() <= answered) std::this_thread::yield();
      (answered < 200 ? to_fiber : to_task).give();
    }
  });
  runtime().run([&] {
    wait(to_fiber);  // What was given before counts once.
    for (int i = 0; i < 200; ++i) {
      ++asked;
      wait(to_fiber);
    }
    const auto task = [&]() -> Task<> {
      for (int i = 0; i < 200; ++i) {
        ++asked;
        co_await to_task;
      }
    };
    wait(task());
  });
  answering.join();
}

// Two workers wake each other in turn, fibers on one side and a coroutine on the other, many pairs
// at once: a lost wake-up hangs here, a missing order is a report of ThreadSanitizer.
TEST_P(WaitAcrossTest, IsWokenAcrossWorkersInBothDirections) {
  constexpr int pairs = 8, rounds = 1000;
  std::array<Baton, pairs> there, back;
  std::array<int, pairs> plain{};  // Guarded by the batons alone.
  Runtime& both = runtime();
  std::thread other_side([&] {
    both.run(
        [&] {
          Scope scope;
          for (int pair = 0; pair < pairs; ++pair) {
            scope.spawn([&, pair]() -> Task<> {
              for (int i = 0; i < rounds; ++i) {
                co_await there[pair];
                ++plain[pair];
                back[pair].give();
              }
            });
          }
          wait(scope.join());
        },
        1);
  });
  both.run(
      [&] {
        Scope scope;
        for (int pair = 0; pair < pairs; ++pair) {
          scope.spawn([&, pair] {
            for (int i = 0; i < rounds; ++i) {
              ++plain[pair];
              there[pair].give();
              wait(back[pair]);
            }
          });
        }
        wait(scope.join());
      },
      0);
  other_side.join();
  for (const int count : plain) EXPECT_EQ(count, 2 * rounds);
}

TEST_P(WaitAcrossTest, BlocksAPlainThreadUntilAWorkerWakesIt) {
  constexpr int rounds = 500;
  Baton there, back;
  int plain = 0;  // Guarded by the batons alone.
  std::thread outside([&] {
    for (int i = 0; i < rounds; ++i) {
      wait(there);
      ++plain;
      back.give();
    }
  });
  runtime().run([&] {
    for (int i = 0; i < rounds; ++i) {
      ++plain;
      there.give();
      wait(back);
    }
  });
  outside.join();
  EXPECT_EQ(plain, 2 * rounds);
}

SENNIT_FOR_EACH_BACKEND(WaitAcrossTest);

}  // namespace
}  // namespace sennit::runtime
