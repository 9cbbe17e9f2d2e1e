// What waiting costs: on what is ready, on a task, for one's turn, for a timer, for another thread.
// A call of a body does its thing many times on a worker; the rate that counts is that of the
// items.

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit::runtime {
namespace {

constexpr int rounds = 10'000;

class RuntimePerf : public testing::Test {
 protected:
  RuntimePerf() {
    log::set_level(log::Level::warning);
    auto started = Runtime::start({});
    SENNIT_ASSERT(started.has_value(), started.error().to_string());
    runtime_ = *std::move(started);
  }
  std::unique_ptr<Runtime> runtime_;
};

struct Ready {
  bool ready() { return true; }
  bool start(Waiter&) { return false; }
  int take() { return 1; }
};
Task<int> one() { co_return 1; }

template <class Make>
Task<long> sum_of(Make make) {
  long sum = 0;
  for (int i = 0; i < rounds; ++i) sum += co_await make();
  co_return sum;
}

PERF_TEST_F_WITH(RuntimePerf, CoAwaitWhatIsReady, .items_per_call = rounds) {
  runtime_->run([] { return sum_of([] { return Ready(); }); });
}
PERF_TEST_F_WITH(RuntimePerf, CoAwaitATaskThatEndsAtOnce, .items_per_call = rounds) {
  runtime_->run([] { return sum_of(&one); });
}
PERF_TEST_F_WITH(RuntimePerf, WaitForATaskThatEndsAtOnce, .items_per_call = rounds) {
  runtime_->run([] {
    for (int i = 0; i < rounds; ++i) wait(one());
  });
}

class FiberYieldPerf : public RuntimePerf {
 protected:
  void yield_all(int fibers) {
    runtime_->run([fibers] {
      Scope scope;
      for (int fiber = 0; fiber < fibers; ++fiber) {
        scope.spawn([fibers] {
          for (int i = 0; i < rounds / fibers; ++i) wait(yield());
        });
      }
      wait(scope.join());
    });
  }
};
// With a thousand fibers a turn of the worker, and its poll, is shared by all of them.
PERF_TEST_F_WITH(FiberYieldPerf, OfAThousand, .items_per_call = rounds) { yield_all(1000); }
PERF_TEST_F_WITH(FiberYieldPerf, Alone, .items_per_call = rounds) { yield_all(1); }

PERF_TEST_F_WITH(RuntimePerf, SpawnAFiberThatEndsAtOnce, .items_per_call = rounds) {
  runtime_->run([] {
    Scope scope;
    for (int i = 0; i < rounds; ++i) scope.spawn([] {});
    wait(scope.join());
  });
}

PERF_TEST_F_WITH(RuntimePerf, ArmAndDisarmATimer, .items_per_call = rounds) {
  runtime_->run([] {
    Worker& worker = Worker::here();
    Timer timer([](Timer&) {});
    for (int i = 0; i < rounds; ++i) {
      worker.timers().arm(timer, worker.now() + std::chrono::milliseconds(10 + i % 5000));
      timer.disarm();
    }
  });
}

// From this thread to a sleeping worker and back: two wake-ups by the kernel.
PERF_TEST_F(RuntimePerf, PostThereAndBack) {
  runtime_->run([] {});
}

}  // namespace
}  // namespace sennit::runtime
