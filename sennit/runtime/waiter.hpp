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
// One that can end early has a fourth:
//
//   void cancel()         asks it to, on the waiter's worker, after start() returned true: the
//                         waiter is still woken exactly once, and take() says Errc::cancelled
//                         unless the result had come first. Idempotent, and harmless once the
//                         wake-up is on its way. take() returns a Result<>.
//
// It may name what is waited for, for lists of what hangs where:
//
//   static constexpr const char* waits_for = "bytes of a stream";
//
// It holds its own operation, so waiting allocates nothing, and it must stay where it is from
// start() to the wake-up. `wait(x)` on a fiber or a plain thread (wait.hpp) and `co_await x` in a
// Task (task.hpp) are thin shells over the calls; on a worker they tell the running Activity
// (activity.hpp) what it waits for, which is how cancelling finds the right cancel().

#include <concepts>
#include <coroutine>
#include <type_traits>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/job.hpp"

namespace sennit::runtime {

class Activity;
class Worker;
namespace detail {
class Parking;
class PromiseBase;
}  // namespace detail

class Waiter : public Job {
 public:
  /// `run` continues it, on `worker`. A Task that is started for it is an activity of its own.
  Waiter(Worker& worker, Run run) : Job(run), worker_(&worker) {}
  /// A coroutine of the activity, which may be null; `promise` if it is a Task.
  Waiter(Worker& worker, Activity* activity, std::coroutine_handle<> coroutine,
         const detail::PromiseBase* promise = nullptr)
      : Job(&Waiter::resume_coroutine),
        worker_(&worker),
        activity_(activity),
        coroutine_(coroutine),
        promise_(promise) {}
  /// `run` continues it, on the thread that waits in `parking` (see wait.hpp).
  Waiter(detail::Parking& parking, Run run) : Job(run), parking_(&parking) {}
  /// `run` continues it, wherever `other` is continued.
  Waiter(const Waiter& other, Run run)
      : Job(run), worker_(other.worker_), parking_(other.parking_) {}

  /// Lets it go on, on its own worker or thread, soon. Any thread; once for each start().
  void wake();
  /// The same from who gives it what it waited for: on the own worker it goes on in this very turn
  /// (see Worker::schedule_this_turn).
  void hand_over();

  /// Stops the program where a plain thread waits, which has none.
  [[nodiscard]] Worker& worker() const {
    SENNIT_ASSERT(worker_ != nullptr && "this needs a worker: call it inside Runtime::run");
    return *worker_;
  }
  /// The fiber's or coroutine's own; null if it is neither.
  [[nodiscard]] Activity* activity() const { return activity_; }
  void set_coroutine(std::coroutine_handle<> coroutine) { coroutine_ = coroutine; }
  /// Null if it is none, or not a Task.
  [[nodiscard]] std::coroutine_handle<> coroutine() const { return coroutine_; }
  [[nodiscard]] const detail::PromiseBase* promise() const { return promise_; }

 private:
  friend class Worker;
  static void resume_coroutine(Job& job);

  Worker* worker_ = nullptr;
  detail::Parking* parking_ = nullptr;  // One of the two is set.
  Activity* activity_ = nullptr;
  std::coroutine_handle<> coroutine_;  // Null if it is not a coroutine.
  const detail::PromiseBase* promise_ = nullptr;
};

template <class T>
concept Awaitable = requires(T awaitable, Waiter& waiter) {
  { awaitable.ready() } -> std::same_as<bool>;
  { awaitable.start(waiter) } -> std::same_as<bool>;
  awaitable.take();
};

template <class T>
concept CancellableAwaitable = Awaitable<T> && requires(T awaitable) { awaitable.cancel(); };

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

/// What waiting for something yields that may be cut short.
template <class T>
using AsResult = std::conditional_t<is_result<T>, T, Result<T>>;

}  // namespace sennit::runtime
