#pragma once
// Scope: fibers and tasks that run side by side, and end before it does.
//
//   Scope scope;
//   scope.spawn([&] { wait(sleep_for(1ms)); });               // on a fiber
//   scope.spawn([&]() -> Task<> { co_await sleep_for(1ms); });  // a coroutine
//   wait(scope.join());                                       // or co_await scope.join()
//
// The function is moved to the heap and lives until what it started is done, so that a coroutine's
// captures stay valid. An exception that leaves one stops the program: nobody is there to catch it.
//
// Thread safety: none; a scope belongs to the worker it is used on. Destroying it with something
// still running stops the program.

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

class Scope {
 public:
  Scope() : worker_(Worker::here()) {}
  ~Scope() { SENNIT_ASSERT(running_ == 0 && "join() a Scope before it ends", running_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Starts `function` in the worker's next turn; while all stacks are in use, a function that
  /// needs one starts when another fiber has ended.
  template <class F>
    requires std::invocable<F>
  void spawn(F function) {
    ++running_;
    if constexpr (is_task<std::invoke_result_t<F>>) {
      worker_.schedule(*new Coroutine<F>(*this, std::move(function)));
    } else {
      worker_.schedule(*new OnFiber<F>(*this, std::move(function)));
    }
  }

  [[nodiscard]] std::size_t running_count() const { return running_; }

  /// Awaitable: everything spawned is done. One at a time.
  class Join {
   public:
    explicit Join(Scope& scope) : scope_(scope) {}
    bool ready() { return scope_.running_ == 0; }
    bool start(Waiter& waiter) {
      SENNIT_ASSERT(scope_.joiner_ == nullptr && "one join at a time");
      scope_.joiner_ = &waiter;
      return true;
    }
    void take() {}

   private:
    Scope& scope_;
  };
  [[nodiscard]] Join join() { return Join(*this); }

 private:
  template <class F>
  struct OnFiber : Job, FiberJob {
    OnFiber(Scope& s, F f)
        : Job([](Job& job) {
            auto& self = static_cast<OnFiber&>(job);
            Worker& worker = self.scope.worker_;
            if (!worker.run_on_fiber(self)) worker.schedule_when_a_fiber_ends(self);
          }),
          FiberJob([](FiberJob& job) noexcept { static_cast<OnFiber&>(job).function(); },
                   [](FiberJob& job) noexcept {
                     const std::unique_ptr<OnFiber> self(static_cast<OnFiber*>(&job));
                     self->scope.one_done();
                   }),
          scope(s),
          function(std::move(f)) {}
    Scope& scope;
    F function;
  };

  template <class F>
  struct Coroutine : Waiter {
    Coroutine(Scope& s, F f)
        : Waiter(s.worker_,
                 [](Job& job) {
                   auto& self = static_cast<Coroutine&>(job);
                   if (!self.task) {
                     self.task.emplace(self.function());
                     if (self.task->start(self)) return;
                   }
                   self.finish();
                 }),
          scope(s),
          function(std::move(f)) {}
    void finish() noexcept {
      try {
        task->take();
      } catch (...) {
        std::terminate();  // In here it can still name the exception.
      }
      Scope& owner = scope;
      delete this;
      owner.one_done();
    }
    Scope& scope;
    F function;
    std::optional<std::invoke_result_t<F>> task;
  };

  void one_done() {
    if (--running_ == 0 && joiner_ != nullptr) std::exchange(joiner_, nullptr)->wake();
  }

  Worker& worker_;
  std::size_t running_ = 0;
  Waiter* joiner_ = nullptr;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Scope;
}
