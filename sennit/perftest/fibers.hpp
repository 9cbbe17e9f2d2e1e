#pragma once
// Performance tests on fibers: including this makes Options::fibers and --fibers work.
//
//   #include "sennit/perftest/fibers.hpp"   // In one file of the program, beside perftest.hpp.
//   PERF_TEST_WITH(Queue, Handover, .fibers = 100, .latency = true) { wait(queue.pop()); ... }
//
// The body is called by so many fibers on one worker, or, together with .threads, by so many on
// each of as many workers. It may wait for anything; between batches of calls its fiber gives way,
// so that a body that never waits shares the worker too. The Runtime is the measurement's own:
// in the body it is reached with runtime::Worker::here(), and the fixture lives outside of it.
//
// This header alone needs the runtime: a program that includes it links sennit::runtime. Thread
// safety: as Crew's.

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/perftest/crew.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit::perftest {

class FiberTimeline final : public Timeline {
 public:
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
  void sleep_until(TimePoint instant) override {
    static_cast<void>(runtime::wait(runtime::sleep_until(instant)));
  }

 private:
  RealClock clock_;
};

class FiberCrew final : public Crew {
 public:
  /// Requires that the kernel lets a Runtime start.
  explicit FiberCrew(int workers) {
    RuntimeOptions options;
    options.workers = static_cast<unsigned>(workers);
    options.stacks.usable_bytes = std::size_t{256} * 1024;  // For what a failed assertion prints.
    auto started = Runtime::start(options);
    SENNIT_ASSERT(started.has_value(), started.error().to_string());
    runtime_ = *std::move(started);
  }

  void run(int count, const Work& work) override {
    const auto workers = static_cast<int>(runtime_->worker_count());
    if (workers == 1 || count == 1) {
      run_on(0, 1, count, work);
      return;
    }
    std::vector<std::thread> threads;  // Each waits for one worker.
    for (int worker = 0; worker < workers; ++worker) {
      threads.emplace_back([=, this, &work] { run_on(worker, workers, count, work); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  bool pause() override {
    static_cast<void>(runtime::wait(runtime::yield()));
    return true;
  }

 private:
  // Every step-th of them, from `worker` on.
  void run_on(int worker, int step, int count, const Work& work) {
    runtime_->run(
        [=, &work] {
          runtime::Scope scope;
          for (int i = worker; i < count; i += step) scope.spawn([&work, i] { work(i); });
          static_cast<void>(runtime::wait(scope.join()));
        },
        static_cast<unsigned>(worker));
  }

  std::unique_ptr<Runtime> runtime_;
};

inline Stage make_fiber_stage(int workers) {
  return {.crew = std::make_unique<FiberCrew>(workers),
          .timeline = std::make_unique<FiberTimeline>()};
}

namespace detail {
[[maybe_unused]] inline const bool fibers_are_linked = use_fibers(&make_fiber_stage);
}  // namespace detail

}  // namespace sennit::perftest
