// How what a scope has spawned ends: errors, exceptions, cancelling, other workers.

#include <array>
#include <atomic>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

constexpr ContextKey<std::string> scope_test_key{"test"};

/// Each test spawns fibers, or coroutines.
class ScopeEndTest : public testing::ManualWorkerTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// Sleeps, and says how that went.
  void spawn_sleeper(Scope& scope, Duration takes = 1h) {
    if (GetParam()) {
      scope.spawn([this, takes] { note(wait(sleep_for(takes))); });
    } else {
      scope.spawn([this, takes]() -> Task<> {
        const Result<void> slept = co_await sleep_for(takes);
        note(slept);
      });
    }
  }
  void spawn_failing(Scope& scope, Errc code) {
    if (GetParam()) {
      scope.spawn([code]() -> Result<int> {
        wait(yield());
        return failure(code, "do it");
      });
    } else {
      scope.spawn([code]() -> Task<Result<int>> {
        co_await yield();
        co_return failure(code, "do it");
      });
    }
  }
  void spawn_throwing(Scope& scope) {
    if (GetParam()) {
      scope.spawn([] {
        wait(yield());
        throw std::runtime_error("thrown");
      });
    } else {
      scope.spawn([]() -> Task<> {
        co_await yield();
        throw std::runtime_error("thrown");
      });
    }
  }
  void note(const Result<void>& result) {
    ended.push_back(result ? "ok" : std::string(to_string(result.error().code())));
  }
  std::vector<std::string> ended;
};
using Ended = std::vector<std::string>;

TEST_P(ScopeEndTest, CancelsTheRestWhenOneReturnsAnError) {
  run([&] {
    Scope scope;
    spawn_sleeper(scope);
    spawn_failing(scope, Errc::not_found);
    spawn_sleeper(scope);
    const Result<void> joined = wait(scope.join());
    ASSERT_FALSE(joined.has_value());
    EXPECT_EQ(joined.error().code(), Errc::not_found);
    EXPECT_TRUE(wait(scope.join()).has_value()) << "an error is told once";
  });
  EXPECT_EQ(ended, (Ended{"cancelled", "cancelled"}));
}

TEST_P(ScopeEndTest, CancelsTheRestWhenOneThrowsAndThrowsItFromJoin) {
  run([&] {
    Scope scope;
    spawn_sleeper(scope);
    spawn_throwing(scope);
    spawn_failing(scope, Errc::not_found);
    EXPECT_THROW(wait(scope.join()), std::runtime_error);
  });
  EXPECT_EQ(ended, Ended{"cancelled"});
}

TEST_P(ScopeEndTest, KeepsGoingIfToldTo) {
  run(
      [&] {
        Scope scope(OnError::keep_going);
        spawn_failing(scope, Errc::not_found);
        spawn_throwing(scope);
        spawn_sleeper(scope, 1s);
        const Result<void> joined = wait(scope.join());
        ASSERT_FALSE(joined.has_value());
        EXPECT_EQ(joined.error().code(), Errc::not_found) << "the first";
      },
      [&] { clock().advance(10ms); });
  EXPECT_EQ(ended, Ended{"ok"});
}

TEST_P(ScopeEndTest, CancelsAllAndWhatComesLater) {
  run([&] {
    Scope scope;
    spawn_sleeper(scope);
    wait(yield());
    wait(yield());
    spawn_sleeper(scope);
    scope.cancel();
    spawn_sleeper(scope);
    EXPECT_EQ(scope.running_count(), 3U);
    EXPECT_TRUE(wait(scope.join()).has_value()) << "to do as told is no error";
  });
  EXPECT_EQ(ended, (Ended{"cancelled", "cancelled", "cancelled"}));
}

TEST_P(ScopeEndTest, CancelsAllWhenWhoJoinsIsCancelled) {
  run([&] {
    Scope outer;
    Activity* joiner = nullptr;
    outer.spawn([&] {
      joiner = Activity::current();
      Scope scope;
      spawn_sleeper(scope);
      spawn_sleeper(scope);
      const Result<void> joined = wait(scope.join());
      EXPECT_EQ(scope.running_count(), 0U) << "it ends when they have";
      ASSERT_FALSE(joined.has_value());
      EXPECT_EQ(joined.error().code(), Errc::cancelled);
    });
    for (int i = 0; i < 3; ++i) wait(yield());
    joiner->cancel();
    wait(outer.join());
  });
  EXPECT_EQ(ended, (Ended{"cancelled", "cancelled"}));
}

// Before anybody joins: what hangs from a cancelled activity ends at once, except under its shield.
TEST_P(ScopeEndTest, CancelsAllWhenWhoMadeItIsCancelled) {
  for (const bool shielded : {false, true}) {
    ended.clear();
    run([&] {
      Scope outer;
      Activity* maker = nullptr;
      bool may_go_on = false;
      outer.spawn([&] {
        maker = Activity::current();
        Scope scope;
        spawn_sleeper(scope);
        const auto until_told = [&]() -> Task<> {
          while (!may_go_on) co_await shield(yield());
        };
        if (shielded) {
          wait(shield(until_told()));
        } else {
          wait(until_told());
        }
        wait(scope.join());
      });
      for (int i = 0; i < 4; ++i) wait(yield());
      maker->cancel();
      for (int i = 0; i < 4; ++i) wait(yield());
      EXPECT_EQ(ended.empty(), shielded);
      may_go_on = true;
      wait(outer.join());
      EXPECT_EQ(ended, Ended{"cancelled"});
    });
  }
}

TEST_P(ScopeEndTest, LetsOneThatWasCancelledAloneEndWithoutHarm) {
  run(
      [&] {
        Scope scope;
        spawn_sleeper(scope, 1s);
        ActivityId id = 0;
        Activity* victim = nullptr;
        id = scope.spawn("victim", [&]() -> Result<void> {
          victim = Activity::current();
          return wait(sleep_for(1h));
        });
        while (victim == nullptr) wait(yield());
        EXPECT_EQ(victim->id(), id);
        EXPECT_EQ(victim->name(), "victim");
        EXPECT_EQ(victim->parent(), Activity::here().id());
        victim->cancel();
        EXPECT_TRUE(wait(scope.join()).has_value());
      },
      [&] { clock().advance(10ms); });
  EXPECT_EQ(ended, Ended{"ok"});
}

TEST_P(ScopeEndTest, HandsDownDeadlineContextAndCancellation) {
  run([&] {
    Activity& self = Activity::here();
    const Deadline deadline = Deadline::at(clock().now() + 1h);
    self.set_deadline(deadline);
    self.context().set(scope_test_key, "handed down");
    self.context().trace = {.high = 7, .low = 8};
    Scope scope;
    const auto look = [deadline] {
      Activity& child = Activity::here();
      EXPECT_EQ(child.deadline(), deadline);
      EXPECT_EQ(*child.context().find(scope_test_key), "handed down");
      EXPECT_EQ(child.context().trace, (TraceId{.high = 7, .low = 8}));
    };
    if (GetParam()) {
      scope.spawn(look);
    } else {
      scope.spawn([look]() -> Task<> {
        look();
        co_return;
      });
    }
    wait(scope.join());
    self.cancel();
    Scope later;
    spawn_sleeper(later);
    wait(shield(later.join()));
  });
  EXPECT_EQ(ended, Ended{"cancelled"});
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, ScopeEndTest, ::testing::Bool(),
                         [](const auto& kind) { return kind.param ? "fibers" : "coroutines"; });

class ScopeAcrossTest : public testing::BackendTest {};

TEST_P(ScopeAcrossTest, SpawnsOnAnotherWorkerAndJoinsFromHere) {
  Runtime& both = runtime();
  std::array<int, 100> ran{};
  both.run([&] {
    Worker& other = both.worker(1);
    Activity::here().context().set(scope_test_key, "far");
    const ActivityId self = Activity::here().id();
    Scope scope;
    for (int& slot : ran) {
      scope.spawn_on(other, [&slot, &other, self] {
        EXPECT_EQ(Worker::current(), &other);
        EXPECT_EQ(*Activity::here().context().find(scope_test_key), "far");
        EXPECT_EQ(Activity::here().parent(), self);
        wait(yield());
        slot += 1;
      });
      scope.spawn_on(other, [&slot]() -> Task<> {
        co_await yield();
        slot += 2;
      });
    }
    EXPECT_TRUE(wait(scope.join()).has_value());
    for (const int slot : ran) EXPECT_EQ(slot, 3);
  });
}

TEST_P(ScopeAcrossTest, CancelsAndHearsOfErrorsAcross) {
  Runtime& both = runtime();
  both.run([&] {
    Worker& other = both.worker(1);
    Scope scope;
    std::atomic<int> cancelled = 0;  // Written on both workers.
    for (int i = 0; i < 10; ++i) {
      scope.spawn_on(other, [&cancelled] { cancelled += !wait(sleep_for(24h)); });
    }
    scope.spawn([&] { cancelled += 100 * !wait(sleep_for(24h)); });
    scope.spawn_on(other, [] { throw std::runtime_error("far away"); });
    EXPECT_THROW(wait(scope.join()), std::runtime_error);
    EXPECT_EQ(cancelled, 110);
    scope.cancel();
    scope.cancel(EndReason::killed);
  });
}

SENNIT_FOR_EACH_BACKEND(ScopeAcrossTest);

}  // namespace
}  // namespace sennit::runtime
