#include "sennit/runtime/timeout.hpp"

#include <string>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

/// Each test runs its waits on a fiber and in a coroutine.
class TimeoutTest : public testing::ManualWorkerTest, public ::testing::WithParamInterface<bool> {
 protected:
  template <class A>
  static auto await(A&& awaitable) {
    if (GetParam()) return wait(awaitable);
    const auto task = [](A& it) -> Task<decltype(it.take())> { co_return co_await it; };
    return wait(task(awaitable));
  }
  void run_in_time(const std::function<void()>& body) {
    run(body, [&] { clock().advance(100us); });
  }
  static std::string word(const auto& result) {
    return result ? "ok" : std::string(to_string(result.error().code()));
  }
};

TEST_P(TimeoutTest, EndsWhatTakesTooLongAndLetsTheRestBe) {
  run_in_time([&] {
    EXPECT_EQ(word(await(timeout_after(1ms, sleep_for(1h)))), "timed out");
    EXPECT_EQ(word(await(timeout_after(1h, sleep_for(1ms)))), "ok");
    EXPECT_EQ(word(await(with_deadline(Deadline::never(), sleep_for(1ms)))), "ok");
    const TimePoint now = clock().now();
    EXPECT_EQ(word(await(with_deadline(Deadline::at(now + 1ms), sleep_for(1h)))), "timed out");
    EXPECT_GE(clock().now(), now + 1ms);
    EXPECT_EQ(word(await(with_deadline(Deadline::at(now - 1h), sleep_for(1h)))), "timed out");
    auto reused = timeout_after(1ms, sleep_for(1h));
    EXPECT_EQ(word(await(reused)), "timed out");
    EXPECT_EQ(word(await(reused)), "timed out");
    EXPECT_EQ(worker().timers().armed_count(), 0U);
  });
}

TEST_P(TimeoutTest, EndsATaskAloneAndTellsItItsDeadline) {
  run_in_time([&] {
    const TimePoint now = clock().now();
    Deadline seen;
    std::string inner;
    const auto slow = [&]() -> Task<Result<int>> {
      seen = Activity::here().deadline();
      const Result<void> slept = co_await sleep_for(1h);
      inner = word(slept);
      if (!slept) co_return failure(slept.error());
      co_return 1;
    };
    EXPECT_EQ(word(await(with_deadline(Deadline::at(now + 2ms), slow()))), "timed out");
    EXPECT_EQ(inner, "cancelled");
    EXPECT_EQ(seen, Deadline::at(now + 2ms));
    EXPECT_FALSE(Activity::here().is_cancelled());
    EXPECT_TRUE(Activity::here().deadline().is_never());
  });
}

TEST_P(TimeoutTest, MakesAResultOfWhatIsNone) {
  run_in_time([&] {
    const auto number = [](Duration takes) -> Task<int> {
      co_await sleep_for(takes);
      co_return 5;
    };
    const auto nothing = [](Duration takes) -> Task<> { co_await sleep_for(takes); };
    EXPECT_EQ(await(timeout_after(1h, number(0ms))), 5);
    EXPECT_EQ(await(timeout_after(1h, number(1ms))), 5);
    EXPECT_EQ(word(await(timeout_after(1ms, number(1h)))), "timed out");
    EXPECT_EQ(word(await(timeout_after(1h, nothing(1ms)))), "ok");
    EXPECT_EQ(word(await(timeout_after(1ms, nothing(1h)))), "timed out");
  });
}

TEST_P(TimeoutTest, TellsATimeoutFromBeingCancelled) {
  run_in_time([&] {
    Activity* subject = nullptr;
    std::string got;
    Scope scope;
    scope.spawn([&] {
      subject = Activity::current();
      got = word(await(timeout_after(1h, sleep_for(2h))));
    });
    while (subject == nullptr || subject->waits_for() == nullptr) wait(yield());
    subject->cancel();
    wait(scope.join());
    EXPECT_EQ(got, "cancelled");
  });
}

TEST_P(TimeoutTest, NestsAndTheStricterHolds) {
  run_in_time([&] {
    const TimePoint start = clock().now();
    EXPECT_EQ(word(await(timeout_after(2ms, timeout_after(1h, sleep_for(2h))))), "timed out");
    EXPECT_EQ(word(await(timeout_after(1h, timeout_after(2ms, sleep_for(2h))))), "timed out");
    EXPECT_LT(clock().now() - start, 1min);
  });
}

TEST_P(TimeoutTest, DoesNotReachThroughAShield) {
  run_in_time([&] { EXPECT_EQ(word(await(timeout_after(1ms, shield(sleep_for(5ms))))), "ok"); });
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, TimeoutTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "fiber" : "coroutine"; });

}  // namespace
}  // namespace sennit::runtime
