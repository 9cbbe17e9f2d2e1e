// What a switch costs with all that belongs to an activity (id, state, deadline, cancellation,
// registry), and what starting one from the pools costs. A switch is one resume plus one yield.

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/timeout.hpp"

namespace sennit::runtime {
namespace {

constexpr int switches = 300'000;

class ActivityPerf : public ::testing::Test {
 protected:
  ActivityPerf() {
    log::set_level(log::Level::warning);
    auto started = Runtime::start({});
    SENNIT_ASSERT(started.has_value(), started.error().to_string());
    runtime_ = *std::move(started);
  }
  void switch_fibers(int count) {
    runtime_->run([count] {
      Scope scope;
      for (int i = 0; i < count; ++i) {
        scope.spawn([count] {
          for (int turn = 0; turn < switches / count; ++turn) wait(yield());
        });
      }
      wait(scope.join());
    });
  }
  void switch_tasks(int count) {
    runtime_->run([count] {
      Scope scope;
      for (int i = 0; i < count; ++i) {
        scope.spawn([count]() -> Task<> {
          for (int turn = 0; turn < switches / count; ++turn) co_await yield();
        });
      }
      wait(scope.join());
    });
  }
  template <class F>
  void spawn_all(int count, F function) {
    runtime_->run([count, function] {
      for (int round = 0; round < switches / count; ++round) {
        Scope scope;
        for (int i = 0; i < count; ++i) scope.spawn(function);
        wait(scope.join());
      }
    });
  }
  std::unique_ptr<Runtime> runtime_;
};

PERF_TEST_F_WITH(ActivityPerf, SwitchOneFiber, .items_per_call = switches) { switch_fibers(1); }
PERF_TEST_F_WITH(ActivityPerf, SwitchAThousandFibers, .items_per_call = switches) {
  switch_fibers(1'000);
}
PERF_TEST_F_WITH(ActivityPerf, SwitchThirtyThousandFibers, .items_per_call = switches) {
  switch_fibers(29'000);
}
PERF_TEST_F_WITH(ActivityPerf, SwitchOneTask, .items_per_call = switches) { switch_tasks(1); }
PERF_TEST_F_WITH(ActivityPerf, SwitchAThousandTasks, .items_per_call = switches) {
  switch_tasks(1'000);
}
PERF_TEST_F_WITH(ActivityPerf, SwitchThirtyThousandTasks, .items_per_call = switches) {
  switch_tasks(30'000);
}

PERF_TEST_F_WITH(ActivityPerf, StartOneFiberThatEndsAtOnce, .items_per_call = switches) {
  spawn_all(1, [] {});
}
PERF_TEST_F_WITH(ActivityPerf, StartAThousandFibersThatEndAtOnce, .items_per_call = switches) {
  spawn_all(1'000, [] {});
}
PERF_TEST_F_WITH(ActivityPerf, StartAThousandFibersThatWaitOnce, .items_per_call = switches) {
  spawn_all(1'000, [] { wait(yield()); });
}
PERF_TEST_F_WITH(ActivityPerf, StartAThousandTasksThatEndAtOnce, .items_per_call = switches) {
  spawn_all(1'000, []() -> Task<> { co_return; });
}

constexpr int timeouts = 10'000;

struct EndsAtStart {
  bool ready() { return false; }
  bool start(Waiter& waiter) {
    waiter.wake();
    return true;
  }
  void cancel() {}
  Result<void> take() { return {}; }
};

PERF_TEST_F_WITH(ActivityPerf, WaitBare, .items_per_call = timeouts) {
  runtime_->run([] {
    for (int i = 0; i < timeouts; ++i) wait(EndsAtStart());
  });
}
PERF_TEST_F_WITH(ActivityPerf, WaitWithATimeout, .items_per_call = timeouts) {
  runtime_->run([] {
    for (int i = 0; i < timeouts; ++i) {
      wait(timeout_after(std::chrono::seconds(5), EndsAtStart()));
    }
  });
}
PERF_TEST_F_WITH(ActivityPerf, WaitUnderAShield, .items_per_call = timeouts) {
  runtime_->run([] {
    for (int i = 0; i < timeouts; ++i) wait(shield(EndsAtStart()));
  });
}

}  // namespace
}  // namespace sennit::runtime
