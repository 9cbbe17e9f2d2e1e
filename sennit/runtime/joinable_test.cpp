#include "sennit/runtime/joinable.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

class JoinableTest : public testing::ManualWorkerTest {};
using JoinableDeathTest = JoinableTest;

TEST_F(JoinableTest, HandsOverWhatBothKindsReturnToBothKinds) {
  run([] {
    Scope scope;
    const auto as_task = []() -> Task<std::unique_ptr<int>> {
      co_await yield();
      co_return std::make_unique<int>(2);
    };
    auto from_fiber = scope.spawn_joinable("fiber", [] {
      wait(yield());
      return std::make_unique<int>(1);
    });
    auto from_task = scope.spawn_joinable(as_task);
    EXPECT_EQ(**wait(from_task.join()), 2);
    EXPECT_TRUE(from_task.is_done());
    EXPECT_EQ(from_task.end_state(), ActivityState::done);
    const auto joins = [](auto& joinable) -> Task<> {
      auto result = co_await joinable.join();
      EXPECT_EQ(**result, 1);
    };
    wait(joins(from_fiber));
    EXPECT_NE(from_fiber.id(), from_task.id());
    wait(scope.join());
  });
}

TEST_F(JoinableTest, ThrowsWhatWasThrownAndReturnsErrors) {
  run([] {
    Scope scope(OnError::keep_going);
    auto throws = scope.spawn_joinable([]() -> int { throw std::runtime_error("x"); });
    auto fails = scope.spawn_joinable([]() -> Result<int> { return failure(Errc::not_found); });
    auto nothing = scope.spawn_joinable([] {});
    auto ready = scope.spawn_joinable([]() -> Task<Result<int>> { co_return 4; });
    EXPECT_THROW(wait(throws.join()), std::runtime_error);
    EXPECT_EQ(wait(fails.join()).error().code(), Errc::not_found);
    EXPECT_TRUE(wait(nothing.join()).has_value());
    EXPECT_EQ(wait(ready.join()), 4);
    EXPECT_TRUE(wait(scope.join()).has_value()) << "who joined has heard of it";
  });
}

TEST_F(JoinableTest, SurvivesAJoinThatWasCancelled) {
  run([&] {
    Scope scope;
    bool may_end = false;
    auto slow = scope.spawn_joinable([&] {
      while (!may_end) wait(yield());
      return 9;
    });
    auto impatient = scope.spawn_joinable([&]() -> Result<int> { return wait(slow.join()); });
    wait(yield());
    wait(yield());
    impatient.cancel();
    impatient.cancel();
    const Result<int> first = wait(impatient.join());
    ASSERT_FALSE(first.has_value());
    EXPECT_EQ(first.error().code(), Errc::cancelled);
    EXPECT_EQ(impatient.end_state(), ActivityState::cancelled);
    may_end = true;
    EXPECT_EQ(wait(slow.join()), 9);
    slow.cancel();  // It has ended: harmless.
    wait(scope.join());
  });
}

TEST_F(JoinableTest, CancelsWhatHasNotBegun) {
  run([] {
    Scope scope;
    auto sleeper = scope.spawn_joinable([] { return wait(sleep_for(1h)); });
    auto killed =
        scope.spawn_joinable([]() -> Task<Result<void>> { co_return co_await sleep_for(1h); });
    sleeper.cancel();
    killed.cancel(EndReason::killed);
    EXPECT_FALSE(wait(sleeper.join()).has_value());
    EXPECT_FALSE(wait(killed.join()).has_value());
    EXPECT_EQ(sleeper.end_state(), ActivityState::cancelled);
    EXPECT_EQ(killed.end_state(), ActivityState::killed);
    wait(scope.join());
  });
}

TEST_F(JoinableTest, GoesOnWithAContinuation) {
  run([] {
    Scope scope(OnError::keep_going);
    auto text = scope.spawn_joinable([] { return 20; })
                    .then(scope,
                          [](Result<int> number) {
                            wait(yield());
                            return *number + 1;
                          })
                    .then(scope, [](Result<int> number) { return std::to_string(*number); });
    EXPECT_EQ(wait(text.join()), "21");
    auto failed = scope.spawn_joinable([]() -> Result<int> { return failure(Errc::closed); })
                      .then(scope, [](Result<int> number) { return number.error().code(); });
    EXPECT_EQ(wait(failed.join()), Errc::closed);
    auto threw = scope.spawn_joinable([]() -> int { throw std::runtime_error("x"); })
                     .then(scope, [](Result<int>) { return 1; });
    EXPECT_THROW(wait(threw.join()), std::runtime_error);
    wait(scope.join());
  });
}

TEST_F(JoinableTest, JoinsAList) {
  run([] {
    Scope scope(OnError::keep_going);
    std::vector<Joinable<int>> numbers;
    for (int i = 0; i < 5; ++i) {
      numbers.push_back(scope.spawn_joinable([i] {
        for (int turns = 5 - i; turns > 0; --turns) wait(yield());
        return i;
      }));
    }
    EXPECT_EQ(*wait(join_all(numbers)), (std::vector{0, 1, 2, 3, 4}));
    std::vector<Joinable<void>> nothings;
    nothings.push_back(scope.spawn_joinable([] {}));
    EXPECT_TRUE(wait(join_all(nothings)).has_value());
    std::vector<Joinable<Result<int>>> results;
    for (const Errc code : {Errc::closed, Errc::not_found}) {
      results.push_back(scope.spawn_joinable([code]() -> Result<int> { return failure(code); }));
    }
    EXPECT_EQ(wait(join_all(results)).error().code(), Errc::closed);
    wait(scope.join());
  });
}

TEST_F(JoinableDeathTest, StopsAtMisuse) {
  const auto block_a_worker = [] {
    Scope scope;
    auto joinable = scope.spawn_joinable([] { return 1; });
    joinable.get();
  };
  EXPECT_DEATH(run(block_a_worker), "would block a worker");
  const auto join_twice = [] {
    Scope scope;
    auto joinable = scope.spawn_joinable([] { return 1; });
    wait(joinable.join());
    wait(joinable.join());
  };
  EXPECT_DEATH(run(join_twice), "joined twice");
}

class JoinableAcrossTest : public testing::BackendTest {};

// Fibers and coroutines of both workers, and a plain thread, join what runs on either.
TEST_P(JoinableAcrossTest, IsJoinedFromAnywhere) {
  Runtime& both = runtime();
  constexpr int rounds = 50;
  both.run([&] {
    Scope scope;
    for (int i = 0; i < rounds; ++i) {
      auto far = scope.spawn_joinable_on(both.worker(1), [i] {
        if (i % 2 == 0) wait(yield());
        return std::to_string(i);
      });
      EXPECT_EQ(wait(far.join()), std::to_string(i));
      auto near = scope.spawn_joinable([i]() -> Task<int> {
        co_await yield();
        co_return i;
      });
      scope.spawn_on(both.worker(1), [near = std::move(near), i]() mutable -> Task<> {
        Result<int> result = co_await near.join();
        EXPECT_EQ(result, i);
      });
      auto fails = scope.spawn_joinable_on(both.worker(1), [] { return wait(sleep_for(24h)); });
      fails.cancel();
      EXPECT_EQ(wait(fails.join()).error().code(), Errc::cancelled);
    }
    wait(scope.join());
  });
}

TEST_P(JoinableAcrossTest, IsJoinedAndCancelledByAPlainThread) {
  Runtime& both = runtime();
  for (int round = 0; round < 20; ++round) {
    std::optional<Joinable<std::string>> value;
    std::optional<Joinable<Result<void>>> sleeper;
    std::atomic<bool> is_made = false;
    std::thread plain([&] {
      while (!is_made) std::this_thread::yield();
      EXPECT_EQ(value->get(), "value");
      sleeper->cancel();
      EXPECT_EQ(sleeper->get().error().code(), Errc::cancelled);
      sleeper.reset();
    });
    both.run([&] {
      Scope scope;
      value = scope.spawn_joinable([round] {
        for (int i = 0; i < round; ++i) wait(yield());
        return std::string("value");
      });
      sleeper = scope.spawn_joinable([] { return wait(sleep_for(24h)); });
      is_made = true;
      wait(scope.join());
    });
    plain.join();
  }
}

SENNIT_FOR_EACH_BACKEND(JoinableAcrossTest);

}  // namespace
}  // namespace sennit::runtime
