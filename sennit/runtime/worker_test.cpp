#include "sennit/runtime/worker.hpp"

#include <array>
#include <atomic>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"
#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;
using testing::Signal;

class ManualWorker : public testing::ManualWorkerTest {};
using ManualWorkerDeathTest = ManualWorker;

struct Borrower : FiberJob {
  explicit Borrower(std::function<void()> b)
      : FiberJob([](FiberJob& job) noexcept { static_cast<Borrower&>(job).body(); },
                 [](FiberJob& job) noexcept { static_cast<Borrower&>(job).is_finished = true; }),
        body(std::move(b)) {}
  std::function<void()> body;
  bool is_finished = false;
};

TEST_F(ManualWorker, RefusesAFiberWhenAllStacksAreOut) {
  make({.stacks = {.usable_bytes = std::size_t{128} * 1024, .on_loan_max = 2}});
  Signal signal;
  run([&] {
    Borrower second([&] { wait(signal); });
    Borrower refused([] { FAIL() << "it was not started"; });
    ASSERT_TRUE(Worker::here().run_on_fiber(second).has_value());
    const auto result = Worker::here().run_on_fiber(refused);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), Errc::limit_reached);
    EXPECT_FALSE(refused.is_finished);
    EXPECT_EQ(Worker::here().busy_fiber_count(), 2U);
    signal.give(0);
    wait(yield());
    EXPECT_TRUE(second.is_finished);
    Borrower third([] {});
    EXPECT_TRUE(Worker::here().run_on_fiber(third).has_value());
    EXPECT_TRUE(third.is_finished);
  });
}

TEST_F(ManualWorker, GivesStacksBackThatWereNotNeededForAWhile) {
  const auto idle = [this] { return worker().stats()->stacks_idle.get(); };
  run([&] {
    Scope scope;
    for (int i = 0; i < 50; ++i) scope.spawn([] { static_cast<void>(wait(yield())); });
    wait(scope.join());
    clock().advance(1s);
    wait(yield());
    wait(yield());
    EXPECT_GE(idle(), 50U);
    for (int i = 0; i < 3; ++i) {
      clock().advance(11s);
      wait(yield());
      wait(yield());
    }
  });
  EXPECT_EQ(idle(), 0U);
}

TEST_F(ManualWorker, RunsAFiberAtOnceUntilItFirstWaits) {
  Signal signal;
  std::string trace;
  run([&] {
    Borrower job([&] {
      trace += "a";
      trace += std::to_string(wait(signal));
    });
    ASSERT_TRUE(Worker::here().run_on_fiber(job).has_value());
    trace += "b";
    EXPECT_FALSE(job.is_finished);
    EXPECT_TRUE(Worker::here().is_on_fiber());
    signal.give(7);
    EXPECT_EQ(trace, "ab") << "it goes on in the next turn";
    wait(yield());
    EXPECT_EQ(trace, "ab7");
    EXPECT_TRUE(job.is_finished);
  });
}

// The same fiber is resumed from wherever, first by another fiber, then by the loop.
TEST_F(ManualWorker, ResumesAFiberFromOtherPlacesThanItWasStartedFrom) {
  Signal first, second;
  std::string trace;
  run([&] {
    Borrower outer([&] {
      Borrower inner([&] {
        trace += "1";
        wait(first);
        trace += "3";
        wait(second);
        trace += "5";
      });
      ASSERT_TRUE(Worker::here().run_on_fiber(inner).has_value());
      trace += "2";
      first.give(0);
      wait(yield());
      trace += "4";
      second.give(0);
      while (!inner.is_finished) wait(yield());
    });
    ASSERT_TRUE(Worker::here().run_on_fiber(outer).has_value());
    while (!outer.is_finished) wait(yield());
  });
  EXPECT_EQ(trace, "12345");
}

TEST_F(ManualWorker, LetsEverybodyReadyGoFirstOnYield) {
  std::string trace;
  run([&] {
    Scope scope;
    for (const char name : {'a', 'b', 'c'}) {
      scope.spawn([&, name] {
        for (int i = 0; i < 4; ++i) {
          trace += name;
          wait(yield());
        }
      });
    }
    wait(scope.join());
  });
  EXPECT_EQ(trace, "abcabcabcabc");
}

/// Runs itself again and again, each time in the same turn.
struct HandedOver : Job {
  explicit HandedOver(int r)
      : Job([](Job& job) {
          auto& self = static_cast<HandedOver&>(job);
          if (++self.ran < self.rounds) Worker::here().schedule_this_turn(self);
        }),
        rounds(r) {}
  int rounds, ran = 0;
};

TEST_F(ManualWorker, RunsWhatIsHandedOverInTheSameTurnAsFarAsTheOthersAllow) {
  constexpr int some = Worker::handed_over_max;
  HandedOver few(some / 2), many(some * 3);
  run([&] {
    Worker::here().schedule_this_turn(few);
    wait(yield());
    EXPECT_EQ(few.ran, some / 2) << "before the next turn";
    Worker::here().schedule_this_turn(many);
    for (int turn = 1; turn <= 3; ++turn) {
      wait(yield());
      EXPECT_NEAR(many.ran, turn * some, 3) << "others have their turn in between";
    }
  });
}

TEST_F(ManualWorker, KeepsTheTimeOfATurn) {
  run([&] {
    const TimePoint before = Worker::here().now();
    clock().advance(1h);
    EXPECT_EQ(Worker::here().now(), before);
    wait(yield());
    EXPECT_EQ(Worker::here().now(), before + 1h);
  });
}

TEST_F(ManualWorker, RunsWhatWasPostedInOrderAndBeforeItStops) {
  std::vector<int> order;
  for (int i = 0; i < 10; ++i) {
    worker().post([&order, i] { order.push_back(i); });
  }
  worker().stop();
  worker().post([&] { order.push_back(10); });
  worker().run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST_F(ManualWorkerDeathTest, StopsWhenItIsDestroyedWhileAFiberWaits) {
  const auto leave_waiting = [&] {
    Signal never;
    Borrower job([&] { wait(never); });
    run([&] { ASSERT_TRUE(Worker::here().run_on_fiber(job).has_value()); });
  };
  EXPECT_DEATH(leave_waiting(), "busy_fiber_count");
}

class WorkerTest : public testing::BackendTest {};

TEST_P(WorkerTest, RunsEachThreadsPostsInOrder) {
  constexpr int threads = 3, each = 3000;
  std::array<int, threads> expected{};
  std::atomic<int> ran = 0;
  std::vector<std::jthread> posters;
  for (int thread = 0; thread < threads; ++thread) {
    posters.emplace_back([&, thread, &worker = runtime().worker(1)] {
      for (int i = 0; i < each; ++i) {
        worker.post([&, thread, i] {
          EXPECT_EQ(expected.at(thread)++, i);
          ++ran;
        });
        if (i % 100 == 0) std::this_thread::sleep_for(10us);  // Lets the worker fall asleep.
      }
    });
  }
  posters.clear();
  runtime().run([] {}, 1);
  while (ran < threads * each) std::this_thread::yield();
}

TEST_P(WorkerTest, WakesFromSleepForEveryPost) {
  for (int i = 0; i < 300; ++i) {
    std::atomic<bool> ran = false;
    runtime().worker(0).post([&] {
      ran = true;
      ran.notify_one();
    });
    ran.wait(false);
  }
}

/// A socket of the worker that receives, and what became of it.
struct Receiver : io::Operation {
  explicit Receiver(int fd)
      : Operation([](Operation& operation, const io::Completion& completion) {
          auto& self = static_cast<Receiver&>(operation);
          if (!completion.more) self.final_result = completion.result;
        }),
        socket(*Worker::here().backend().adopt(fd)) {
    Worker::here().backend().receive(*this, socket);
  }
  io::Socket socket;
  int final_result = 1;
};

TEST_P(WorkerTest, ClosesWhatWasClosedBeforeItStops) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  std::unique_ptr<Receiver> receiver;
  runtime().run([&] { receiver = std::make_unique<Receiver>(ends[0]); });
  runtime().run([&] { Worker::here().backend().close(receiver->socket); });
  runtime().stop();
  EXPECT_EQ(receiver->final_result, -ECANCELED);
  char byte = 0;
  EXPECT_EQ(::recv(ends[1], &byte, 1, MSG_DONTWAIT), 0);
  ::close(ends[1]);
}

TEST_P(WorkerTest, StopsAtOnceThoughASocketIsOpen) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  runtime().run([&] { ASSERT_TRUE(Worker::here().backend().adopt(ends[0]).has_value()); });
  const RealClock clock;
  const TimePoint before = clock.now();
  runtime().stop();
  EXPECT_LT(clock.now() - before, 950ms) << "closing gives up after a second";
  stop_runtime();
  char byte = 0;
  EXPECT_EQ(::recv(ends[1], &byte, 1, MSG_DONTWAIT), 0) << "the backend closes it";
  ::close(ends[1]);
}

SENNIT_FOR_EACH_BACKEND(WorkerTest);

}  // namespace
}  // namespace sennit::runtime
