#pragma once
// ManualWorkerTest: one worker on the test's own thread, on a clock that the test moves.
//
//   run([&] { wait(sleep_for(1h)); },                  // a fiber
//       [&] { clock().advance(1h); });                 // called between turns while that one waits
//
// Everything is deterministic: no thread, no real time.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>

#include "sennit/base/assert.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime::testing {

/// Something to wait for that the test lets happen; once for each wait.
class Signal {
 public:
  bool ready() { return false; }
  bool start(Waiter& waiter) {
    SENNIT_ASSERT(waiter_ == nullptr);
    waiter_ = &waiter;
    return true;
  }
  int take() { return value_; }

  [[nodiscard]] bool is_awaited() const { return waiter_ != nullptr; }
  void give(int value) {
    value_ = value;
    std::exchange(waiter_, nullptr)->wake();
  }

 private:
  Waiter* waiter_ = nullptr;
  int value_ = 0;
};

/// How far the stack has gone down, seen from wherever note() is called.
class StackSpread {
 public:
  [[gnu::noinline]] void note() {
    const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, at);
    highest_ = std::max(highest_, at);
  }
  [[nodiscard]] std::size_t bytes() const { return highest_ - lowest_; }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
};

class ManualWorkerTest : public ::testing::Test {
 protected:
  [[nodiscard]] ManualClock& clock() { return clock_; }
  [[nodiscard]] Worker& worker() {
    if (worker_ == nullptr) make({});
    return *worker_;
  }
  void make(WorkerOptions options) {
    options.clock = &clock_;
    options.poll_interval = Duration::zero();  // So that `meanwhile` is called once a turn.
    if (options.stacks.usable_bytes == fiber::StackPool::Options{}.usable_bytes) {
      options.stacks.usable_bytes = std::size_t{256} * 1024;  // Room for sanitizers' frames.
    }
    auto made = Worker::make(options);
    SENNIT_ASSERT(made.has_value(), made.error().to_string());
    worker_ = *std::move(made);
  }

  /// Runs `body` on a fiber until it has returned; `meanwhile` once a turn.
  void run(const std::function<void()>& body, const std::function<void()>& meanwhile = [] {}) {
    struct Main : Job, FiberJob {
      Main(Worker& w, const std::function<void()>& b)
          : Job([](Job& job) {
              auto& self = static_cast<Main&>(job);
              SENNIT_ASSERT(self.worker.run_on_fiber(self).has_value());
            }),
            FiberJob([](FiberJob& job) noexcept { static_cast<Main&>(job).body(); },
                     [](FiberJob& job) noexcept {
                       static_cast<Main&>(job).is_done = true;
                       static_cast<Main&>(job).worker.stop();
                     }),
            worker(w),
            body(b) {}
      Worker& worker;
      const std::function<void()>& body;
      bool is_done = false;
    } main(worker(), body);
    struct Meanwhile : Job {
      Meanwhile(Main& m, const std::function<void()>& c)
          : Job([](Job& job) {
              auto& self = static_cast<Meanwhile&>(job);
              if (self.main.is_done) return;
              self.call();
              self.main.worker.schedule(self);  // Keeps the worker from sleeping in real time.
            }),
            main(m),
            call(c) {}
      Main& main;
      const std::function<void()>& call;
    } each_turn(main, meanwhile);
    worker_->post(main);
    worker_->post(each_turn);
    worker_->run();
    worker_.reset();
  }

 private:
  ManualClock clock_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace sennit::runtime::testing
