#include "sennit/runtime/registry.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "sennit/runtime/detail/stack_trace.hpp"
#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

const ActivityInfo* find_named(const std::vector<ActivityInfo>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &ActivityInfo::name);
  return found == list.end() ? nullptr : &*found;
}

std::string trace_text(const ActivityInfo& info) {
  const detail::Symbols symbols;
  std::string text;
  for (const void* const address : info.trace) text += symbols.describe(address) + "\n";
  return text;
}

[[gnu::noinline]] void registry_test_sleeps_deep() {
  static_cast<void>(wait(sleep_for(1h)));
  asm volatile("" ::: "memory");
}
Task<> registry_test_inner() { co_await sleep_for(1h); }
Task<> registry_test_outer() { co_await registry_test_inner(); }

class RegistryTest : public testing::ManualWorkerTest {};

TEST_F(RegistryTest, TellsOfEachWhatItIsAndWaitsForUntilItEnds) {
  run([&] {
    Activity::here().set_name("main");
    Scope scope;
    scope.spawn("sleeper", &registry_test_sleeps_deep);
    scope.spawn("task", &registry_test_outer);
    {
      const auto list = list_activities_here();
      ASSERT_EQ(list.size(), 3U);
      EXPECT_EQ(find_named(list, "sleeper")->state, ActivityState::created);
      EXPECT_EQ(find_named(list, "task")->state, ActivityState::created);
    }
    Activity::here().set_deadline(Deadline::at(clock().now() + 1min));
    wait(yield());
    clock().advance(3s);
    const auto list = list_activities_here();
    const ActivityInfo& self = *find_named(list, "main");
    EXPECT_EQ(self.id, Activity::here().id());
    EXPECT_EQ(self.state, ActivityState::running);
    EXPECT_EQ(self.parent, 0U);
    EXPECT_EQ(self.waits_for, "");
    EXPECT_EQ(self.time_left, 57s);
    EXPECT_TRUE(self.trace.empty());
    for (const char* name : {"sleeper", "task"}) {
      SCOPED_TRACE(name);
      const ActivityInfo& info = *find_named(list, name);
      EXPECT_EQ(info.state, ActivityState::waiting);
      EXPECT_EQ(info.waits_for, "time to pass");
      EXPECT_EQ(info.parent, self.id);
      EXPECT_EQ(info.age, 3s);
      EXPECT_FALSE(info.trace.empty());
    }
    scope.cancel();
    EXPECT_EQ(find_named(list_activities_here(Traces::without), "task")->end_reason,
              EndReason::cancelled);
    wait(scope.join());
    EXPECT_EQ(list_activities_here().size(), 1U);
  });
}

TEST_F(RegistryTest, TracesStacksAndAwaitChains) {
  if (!detail::Symbols::is_complete()) GTEST_SKIP() << "built without libdw";
  run([&] {
    Scope scope;
    scope.spawn("fiber", [] { registry_test_sleeps_deep(); });
    scope.spawn("task", &registry_test_outer);
    scope.spawn("both", [] { wait(registry_test_outer()); });
    wait(yield());
    wait(yield());
    for (int i = 0; i < 2; ++i) {  // Looking leaves everything as it was.
      const auto list = list_activities_here();
      const std::string fiber = trace_text(*find_named(list, "fiber"));
      EXPECT_NE(fiber.find("registry_test_sleeps_deep"), std::string::npos) << fiber;
      for (const char* name : {"task", "both"}) {
        const std::string chain = trace_text(*find_named(list, name));
        const auto inner = chain.find("registry_test_inner");
        const auto outer = chain.find("registry_test_outer");
        EXPECT_NE(inner, std::string::npos) << chain;
        EXPECT_NE(outer, std::string::npos) << chain;
        EXPECT_LT(inner, outer) << chain;
      }
    }
    const std::string text =
        format_activities({.activities = list_activities_here(), .silent_workers = {7}});
    for (const char* part : {"4 activities", "worker 7 does not answer", "\"both\" on worker 0",
                             "waiting for time to pass", "spawned by 0x"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
    scope.cancel();
    wait(scope.join());
  });
}

class RegistryAcrossTest : public testing::BackendTest {};

TEST_P(RegistryAcrossTest, ListsAllWorkersFromAPlainThreadAndFromAWorker) {
  Runtime& both = runtime();
  std::atomic<bool> may_end = false;
  std::atomic<int> waiting = 0;
  std::thread plain([&] {
    while (waiting < 2) std::this_thread::yield();
    const ActivityList list = list_activities(both, Traces::with, 60s);
    EXPECT_TRUE(list.silent_workers.empty());
    const ActivityInfo* const far = find_named(list.activities, "far");
    const ActivityInfo* const near = find_named(list.activities, "near");
    ASSERT_TRUE(far != nullptr && near != nullptr);
    EXPECT_EQ(far->worker, 1U);
    EXPECT_EQ(near->worker, 0U);
    // Each is ended by its id; an id that means nothing does nothing.
    end_activity(both, far->id);
    end_activity(both, near->id, EndReason::killed);
    end_activity(both, 1);
    may_end = true;
  });
  both.run([&] {
    Scope scope;
    auto far = scope.spawn_joinable_on(both.worker(1), [&] {
      Activity::here().set_name("far");
      ++waiting;
      return wait(sleep_for(24h));
    });
    auto near = scope.spawn_joinable("near", [&] {
      ++waiting;
      return wait(shield(sleep_for(24h)));
    });
    const ActivityList list = wait(gather_activities(both));
    EXPECT_GE(list.activities.size(), 2U);
    EXPECT_FALSE(wait(far.join()).has_value());
    EXPECT_FALSE(wait(near.join()).has_value());
    EXPECT_EQ(far.end_state(), ActivityState::cancelled);
    EXPECT_EQ(near.end_state(), ActivityState::killed);
    wait(scope.join());
  });
  plain.join();
  EXPECT_TRUE(may_end);
}

TEST_P(RegistryAcrossTest, NamesAWorkerThatDoesNotAnswer) {
  Runtime& both = runtime();
  std::atomic<bool> is_stuck = false, may_go_on = false;
  both.worker(1).post([&] {
    is_stuck = true;
    while (!may_go_on) std::this_thread::yield();
  });
  while (!is_stuck) std::this_thread::yield();
  // Worker 0 may need its time on a busy machine, so only the other is certain.
  const ActivityList list = list_activities(both, Traces::without, 10ms);
  EXPECT_NE(std::ranges::find(list.silent_workers, 1U), list.silent_workers.end());
  may_go_on = true;
  both.run([] {}, 1);  // What it looks at must stay until it has seen it.
}

SENNIT_FOR_EACH_BACKEND(RegistryAcrossTest);

}  // namespace
}  // namespace sennit::runtime
