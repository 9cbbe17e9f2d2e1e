#include "sennit/runtime/activity.hpp"

#include <set>
#include <string>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

/// A wait that is granted or cancelled, and counts what it was told.
class Grant {
 public:
  static constexpr const char* waits_for = "a grant";

  bool ready() { return false; }
  bool start(Waiter& waiter) {
    waiter_ = &waiter;
    return true;
  }
  void cancel() {
    ++cancels;
    if (waiter_ == nullptr) return;
    is_cancelled_ = true;
    std::exchange(waiter_, nullptr)->wake();
  }
  Result<int> take() {
    if (std::exchange(is_cancelled_, false)) return failure(Errc::cancelled);
    return 7;
  }
  void give() { std::exchange(waiter_, nullptr)->wake(); }

  int cancels = 0;

 private:
  Waiter* waiter_ = nullptr;
  bool is_cancelled_ = false;
};

std::string word(const auto& result) {
  return result ? "ok" : std::string(to_string(result.error().code()));
}

/// Each test runs as a fiber and as a coroutine.
class ActivityTest : public testing::ManualWorkerTest,
                     public ::testing::WithParamInterface<const char*> {
 protected:
  /// Spawns something that waits for each in turn and writes down how that ended.
  template <class... A>
  void spawn_waits(Scope& scope, A&... awaitables) {
    if (std::string(GetParam()) == "fiber") {
      scope.spawn([this, &awaitables...] {
        subject = Activity::current();
        (words.push_back(word(wait(awaitables))), ...);
        subject = nullptr;
      });
    } else {
      scope.spawn([this, &awaitables...] { return await_each(awaitables...); });
    }
  }
  template <class... A>
  Task<> await_each(A&... awaitables) {
    subject = Activity::current();
    (words.push_back(word(co_await awaitables)), ...);
    subject = nullptr;
  }

  Activity* subject = nullptr;
  Words words;
};

TEST_P(ActivityTest, EndsTheWaitInProgressAndEachLaterOneWhenCancelled) {
  run([&] {
    auto sleep = sleep_for(1h);
    auto turn = yield();
    Grant grant;
    Scope scope;
    spawn_waits(scope, sleep, grant, turn);
    wait(yield());
    ASSERT_NE(subject, nullptr);
    EXPECT_EQ(subject->state(), ActivityState::waiting);
    EXPECT_STREQ(subject->waits_for(), "time to pass");
    EXPECT_FALSE(subject->is_cancelled());
    subject->cancel();
    subject->cancel();
    EXPECT_TRUE(subject->is_cancelled());
    EXPECT_TRUE(words.empty()) << "it goes on in its own turn";
    wait(scope.join());
    EXPECT_EQ(grant.cancels, 1);
  });
  EXPECT_EQ(words, (Words{"cancelled", "cancelled", "cancelled"}));
}

TEST_P(ActivityTest, KeepsAResultThatCameBeforeTheRequestToEnd) {
  run([&] {
    Grant grant, later;
    Scope scope;
    spawn_waits(scope, grant, later);
    wait(yield());
    EXPECT_STREQ(subject->waits_for(), "a grant");
    grant.give();
    subject->cancel();
    wait(scope.join());
    EXPECT_EQ(grant.cancels, 1) << "it was asked, too late";
  });
  EXPECT_EQ(words, (Words{"ok", "cancelled"}));
}

TEST_P(ActivityTest, IsNotReachedUnderAShieldButAfterwards) {
  run([&] {
    Grant grant, after;
    auto shielded = shield(grant);
    Scope scope;
    spawn_waits(scope, shielded, after);
    wait(yield());
    EXPECT_STREQ(subject->waits_for(), "a grant");
    subject->cancel();
    EXPECT_FALSE(subject->is_cancelled());
    EXPECT_EQ(subject->end_reason(), EndReason::cancelled);
    wait(yield());
    EXPECT_EQ(grant.cancels, 0);
    EXPECT_TRUE(words.empty());
    grant.give();
    wait(scope.join());
  });
  EXPECT_EQ(words, (Words{"ok", "cancelled"}));
}

TEST_P(ActivityTest, IsKilledThroughAShield) {
  run([&] {
    Grant grant, after;
    auto shielded = shield(grant);
    Scope scope;
    spawn_waits(scope, shielded, after);
    wait(yield());
    subject->cancel();
    subject->cancel(EndReason::killed);
    wait(scope.join());
    EXPECT_EQ(grant.cancels, 1);
  });
  EXPECT_EQ(words, (Words{"cancelled", "cancelled"}));
}

TEST_P(ActivityTest, ShieldsAllThatATaskWaitsFor) {
  run([&] {
    Grant first, second, after;
    const auto both = [](Grant& one, Grant& two) -> Task<Result<int>> {
      const Result<int> ignored = co_await one;
      EXPECT_TRUE(ignored.has_value());
      co_return co_await two;
    };
    auto shielded = shield(both(first, second));
    Scope scope;
    spawn_waits(scope, shielded, after);
    wait(yield());
    subject->cancel();
    first.give();
    wait(yield());
    wait(yield());
    EXPECT_TRUE(words.empty());
    second.give();
    wait(scope.join());
    EXPECT_EQ(first.cancels + second.cancels, 0);
  });
  EXPECT_EQ(words, (Words{"ok", "cancelled"}));
}

Task<Result<int>> deep(Grant& grant, int depth) {
  if (depth == 0) co_return co_await grant;
  Task<Result<int>> deeper = deep(grant, depth - 1);
  co_return co_await deeper;
}

TEST_P(ActivityTest, FindsTheInnermostWaitOfTasksThatAwaitTasks) {
  run([&] {
    Grant grant;
    Task<Result<int>> task = deep(grant, 10);
    Scope scope;
    spawn_waits(scope, task);
    wait(yield());
    EXPECT_STREQ(subject->waits_for(), "a grant");
    subject->cancel();
    wait(scope.join());
    EXPECT_EQ(grant.cancels, 1);
  });
  EXPECT_EQ(words, Words{"cancelled"});
}

TEST_P(ActivityTest, TimesOutAtItsDeadlineAndNotBefore) {
  run(
      [&] {
        auto first = sleep_for(1s), second = sleep_for(1h);
        Scope scope;
        spawn_waits(scope, first, second);
        wait(yield());
        const TimePoint start = clock().now();
        subject->set_deadline(Deadline::at(start + 3s));
        subject->set_deadline(Deadline::at(start + 9s));
        EXPECT_EQ(subject->deadline(), Deadline::at(start + 3s)) << "the stricter one holds";
        while (words.empty()) wait(yield());
        EXPECT_EQ(subject->end_reason(), EndReason::none);
        wait(scope.join());
        EXPECT_GE(clock().now() - start, 3s);
        EXPECT_LT(clock().now() - start, 4s);
      },
      [&] { clock().advance(10ms); });
  EXPECT_EQ(words, (Words{"ok", "cancelled"}));
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, ActivityTest, ::testing::Values("fiber", "coroutine"),
                         [](const auto& tested) { return std::string(tested.param); });

class ActivityPlainTest : public testing::ManualWorkerTest {};

/// Starts a Task as something that awaits several would: with a waiter of its own.
struct Branch : Waiter {
  Branch(Worker& worker, Task<Result<int>> t)
      : Waiter(worker, [](Job& job) { static_cast<Branch&>(job).is_done = true; }),
        task(std::move(t)) {}
  Task<Result<int>> task;
  bool is_done = false;
};

TEST_F(ActivityPlainTest, GivesATaskThatIsAwaitedBesideOthersALifeOfItsOwn) {
  run([&] {
    Grant one, two;
    Branch first(worker(), deep(one, 2)), second(worker(), deep(two, 2));
    const auto start_both = [&]() -> Task<> {
      EXPECT_TRUE(first.task.start(first));
      EXPECT_TRUE(second.task.start(second));
      co_return;
    };
    Activity& self = Activity::here();
    wait(start_both());
    EXPECT_EQ(Activity::current(), &self);
    wait(yield());
    second.task.cancel();
    while (!second.is_done) wait(yield());
    EXPECT_FALSE(second.task.take().has_value());
    EXPECT_FALSE(first.is_done);
    EXPECT_FALSE(self.is_cancelled());
    one.give();
    while (!first.is_done) wait(yield());
    EXPECT_EQ(first.task.take(), 7);
    first.task.cancel();  // It has ended: harmless.
  });
}

TEST_F(ActivityPlainTest, NumbersEachOneOnceAndTellsItsState) {
  std::set<ActivityId> ids;
  for (int i = 0; i < 3; ++i) {
    run([&] {
      Activity& self = Activity::here();
      EXPECT_EQ(self.state(), ActivityState::running);
      EXPECT_EQ(self.waits_for(), nullptr);
      EXPECT_EQ(self.name(), "");
      self.set_name("main");
      EXPECT_EQ(self.name(), "main");
      EXPECT_EQ(self.started_at(), clock().now());
      EXPECT_TRUE(ids.insert(self.id()).second);
    });
  }
}

TEST_F(ActivityPlainTest, IsNoneInAJob) {
  run([&] {
    bool ran = false;
    worker().post([&] {
      EXPECT_EQ(Activity::current(), nullptr);
      EXPECT_DEATH(static_cast<void>(Activity::here()), "a fiber or a coroutine to belong to");
      ran = true;
    });
    while (!ran) wait(yield());
  });
}

TEST_F(ActivityPlainTest, NamesEveryState) {
  std::set<std::string> names;
  for (int state = 0; state <= static_cast<int>(ActivityState::killed); ++state) {
    names.insert(to_string(static_cast<ActivityState>(state)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ActivityState::killed) + 1);
}

}  // namespace
}  // namespace sennit::runtime
