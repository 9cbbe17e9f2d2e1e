#pragma once
// Task<T>: a lazy C++20 coroutine of a worker.
//
//   Task<int> half(int n) { co_await sleep_for(1ms); co_return n / 2; }
//   co_await half(4)      in another Task;      wait(half(4))      on a fiber
//
// It starts when it is first waited for, and is waited for once. An exception that leaves its body
// is thrown to whoever waits. Its frame comes from the worker's slabs. Neither a chain of Tasks nor
// a million of them that finish at once grows the stack: each returns to one loop in Worker::resume
// before the next continues (symmetric transfer, the language's own answer, overflows with GCC 12
// when it does not optimise).
//
// With GCC 12, give awaited calls no temporaries that are lambdas with captures, aggregates with
// destructors, or initializer lists of such: it destroys them twice. Options are classes with
// constructors for that reason, here as everywhere.
//
// Awaited by a fiber or a coroutine it is part of that one's activity (activity.hpp); started with
// another kind of waiter, as when several are awaited at once, it is an activity of its own.
//
// Thread safety: none; made, awaited and destroyed on one worker. Destroying one that has started
// and is not done stops the program.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/frame_slabs.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

template <class T = void>
class Task;

namespace detail {

/// What `co_await` makes of an awaitable. Lives in the awaiting frame.
template <class A>
class CoroutineAwait {
 public:
  explicit CoroutineAwait(A&& awaitable) : awaitable_(std::forward<A>(awaitable)) {}
  bool await_ready() { return awaitable_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    Worker& worker = Worker::here();
    Activity* const activity = worker.activity();
    const PromiseBase* promise = nullptr;
    if constexpr (std::derived_from<Promise, PromiseBase>) promise = &self.promise();
    Waiter& waiter = waiter_.emplace(worker, activity, self, promise);
    if (activity == nullptr) return awaitable_.start(waiter);
    activity->begin_wait(std::addressof(awaitable_), wait_kind<Object>, waiter);
    if (!awaitable_.start(waiter)) return false;
    if constexpr (CancellableAwaitable<Object>) {
      if (activity->is_cancelled()) [[unlikely]]
        awaitable_.cancel();
    }
    return true;
  }
  decltype(auto) await_resume() {
    if (waiter_ && waiter_->activity() != nullptr) waiter_->activity()->end_wait();
    return awaitable_.take();
  }

 private:
  using Object = std::remove_reference_t<A>;

  A awaitable_;  // A reference: a temporary lives in the awaiting frame as long as we do.
  std::optional<Waiter> waiter_;
};

class PromiseBase {
 public:
  static void* operator new(std::size_t bytes) { return FrameSlabs::allocate(bytes); }
  static void operator delete(void* frame, std::size_t) noexcept { FrameSlabs::free(frame); }

  std::suspend_always initial_suspend() noexcept { return {}; }
  struct Final {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      PromiseBase& promise = self.promise();
      Worker& worker = Worker::here();
      Waiter* const waiter = promise.continuation_;
      if (promise.activity_ != nullptr) {
        worker.release_activity(*std::exchange(promise.activity_, nullptr));
      }
      if (waiter != nullptr) worker.complete(*waiter);  // May not touch `self` again.
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
  /// Who awaits it; null while nobody does.
  [[nodiscard]] const Waiter* continuation() const { return continuation_; }
  void unhandled_exception() { exception_ = std::current_exception(); }

  template <class A>
    requires Awaitable<std::remove_reference_t<A>>
  CoroutineAwait<A&&> await_transform(A&& awaitable) {
    return CoroutineAwait<A&&>(std::forward<A>(awaitable));
  }

 protected:
  template <class T>
  friend class runtime::Task;
  Waiter* continuation_ = nullptr;
  BranchActivity* activity_ = nullptr;  // Our own; null if we belong to that of who awaits us.
  std::exception_ptr exception_;
};

template <class T>
class Promise : public PromiseBase {
 public:
  Task<T> get_return_object();
  template <class U>
    requires std::constructible_from<T, U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() { return *std::move(value_); }

 private:
  std::optional<T> value_;
};

template <>
class Promise<void> : public PromiseBase {
 public:
  Task<void> get_return_object();
  void return_void() {}
  void take() {}
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using value_type = T;
  static constexpr const char* waits_for = "a task";

  Task(Task&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)), started_(other.started_) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      frame_ = std::exchange(other.frame_, nullptr);
      started_ = other.started_;
    }
    return *this;
  }
  ~Task() { destroy(); }

  [[nodiscard]] bool ready() { return false; }
  [[nodiscard]] bool start(Waiter& waiter) {
    Activity* const activity = Worker::here().activity();
    if (waiter.activity() == nullptr || waiter.activity() != activity) {
      return start_branch(waiter, Deadline::never());
    }
    return start_as(waiter, *activity);
  }
  /// As an activity of its own, whatever the waiter is, that is told a deadline; who starts it so
  /// sees to that being kept.
  [[nodiscard]] bool start_branch(Waiter& waiter, Deadline deadline) {
    SENNIT_ASSERT(frame_ != nullptr && !started_);
    Worker& worker = Worker::here();
    BranchActivity& branch = worker.acquire_activity(worker.activity());
    branch.narrow_deadline(deadline);
    frame_.promise().activity_ = &branch;
    if (!worker.is_in_coroutine()) return start_as(waiter, branch);
    started_ = true;
    frame_.promise().continuation_ = &waiter;
    branch.schedule(frame_);  // There may be several to start.
    return true;
  }
  /// As that activity.
  [[nodiscard]] bool start_as(Waiter& waiter, Activity& activity) {
    SENNIT_ASSERT(frame_ != nullptr && !started_);
    started_ = true;
    Worker& worker = Worker::here();
    if (worker.is_in_coroutine()) {
      frame_.promise().continuation_ = &waiter;
      worker.resume(frame_, &activity);  // It runs right after the caller has suspended.
      return true;
    }
    worker.resume(frame_, &activity);
    if (frame_.done()) return false;
    frame_.promise().continuation_ = &waiter;
    return true;
  }
  /// If it was started as an activity of its own, asks that to end; what it returns then is up to
  /// it. If it belongs to the activity of who awaits it, that is where to ask.
  void cancel(EndReason reason = EndReason::cancelled) {
    if (frame_ != nullptr && frame_.promise().activity_ != nullptr) {
      frame_.promise().activity_->cancel(reason);
    }
  }
  [[nodiscard]] bool is_done() const { return frame_ != nullptr && frame_.done(); }
  T take() {
    SENNIT_ASSERT(frame_.done());
    if (frame_.promise().exception_) std::rethrow_exception(frame_.promise().exception_);
    return frame_.promise().take();
  }

 private:
  friend promise_type;
  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  void destroy() {
    if (frame_ == nullptr) return;
    SENNIT_ASSERT((!started_ || frame_.done()) && "a Task must not be destroyed while it waits");
    frame_.destroy();
    frame_ = nullptr;
  }

  std::coroutine_handle<promise_type> frame_;
  bool started_ = false;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}
}  // namespace detail

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

}  // namespace sennit::runtime

namespace sennit {
using runtime::Task;
}
