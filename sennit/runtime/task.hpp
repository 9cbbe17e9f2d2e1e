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
// Thread safety: none; made, awaited and destroyed on one worker. Destroying one that has started
// and is not done stops the program.

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "sennit/base/assert.hpp"
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
  bool await_suspend(std::coroutine_handle<> self) {
    Waiter& waiter = waiter_.emplace(Worker::here(), self);
    return awaitable_.start(waiter);
  }
  decltype(auto) await_resume() { return awaitable_.take(); }

 private:
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
      Waiter* const waiter = self.promise().continuation_;
      if (waiter != nullptr) Worker::current()->complete(*waiter);  // May not touch `self` again.
    }
    void await_resume() noexcept {}
  };
  Final final_suspend() noexcept { return {}; }
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
    SENNIT_ASSERT(frame_ != nullptr && !started_);
    started_ = true;
    Worker& worker = Worker::here();
    if (&waiter.worker() == &worker && worker.is_in_coroutine()) {
      frame_.promise().continuation_ = &waiter;  // It runs right after the caller has suspended.
      worker.resume(frame_);
      return true;
    }
    worker.resume(frame_);
    if (frame_.done()) return false;
    frame_.promise().continuation_ = &waiter;
    return true;
  }
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
