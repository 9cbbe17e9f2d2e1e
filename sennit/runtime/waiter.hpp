#pragma once
// Waiter: who waits, whatever it is; and the shape of everything that can be waited for.
//
// An awaitable is any object with these three calls:
//
//   bool ready()          the result is there; nobody needs to wait
//   bool start(Waiter&)   begins; true: the waiter will be woken exactly once, when the result is
//                         there; false: the result is there already and nobody will be woken
//   T take()              the result; called once, after ready() or the wake-up
//
// It holds its own operation, so waiting allocates nothing, and it must stay where it is from
// start() to the wake-up. `wait(x)` on a fiber (wait.hpp) and `co_await x` in a Task (task.hpp) are
// thin shells over the three.

#include <concepts>
#include <coroutine>

#include "sennit/runtime/job.hpp"

namespace sennit::runtime {

class Worker;

class Waiter : public Job {
 public:
  /// `run` continues it, on `worker`.
  Waiter(Worker& worker, Run run) : Job(run), worker_(worker) {}
  Waiter(Worker& worker, std::coroutine_handle<> coroutine)
      : Job(&Waiter::resume_coroutine), worker_(worker), coroutine_(coroutine) {}

  /// Lets it go on, on its own worker, soon. Any thread; once for each start().
  void wake();

  [[nodiscard]] Worker& worker() const { return worker_; }

 private:
  friend class Worker;
  static void resume_coroutine(Job& job);

  Worker& worker_;
  std::coroutine_handle<> coroutine_;  // Null if it is not a coroutine.
};

template <class T>
concept Awaitable = requires(T awaitable, Waiter& waiter) {
  { awaitable.ready() } -> std::same_as<bool>;
  { awaitable.start(waiter) } -> std::same_as<bool>;
  awaitable.take();
};

}  // namespace sennit::runtime
