#pragma once
// AsyncGenerator<T>: a coroutine that gives a sequence, and may wait between its elements.
//
//   AsyncGenerator<Line> lines(TcpStream& stream) { ... co_await stream.read(...); co_yield line; }
//   auto all = lines(stream);
//   while (std::optional<Line> line = co_await all.next()) ...        // or wait(all.next())
//
// It runs only while next() is waited for, as part of the activity that waits; cancelling that ends
// what the generator waits for, and it decides what becomes of it. It may be left before its end,
// but not while next() is waited for. An exception that leaves it is thrown by next(), and the
// sequence has ended.
//
// Thread safety: none; made, used and destroyed on one worker.

#include <coroutine>
#include <optional>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

template <class T>
class [[nodiscard]] AsyncGenerator {
 public:
  class promise_type : public detail::PromiseBase {
   public:
    AsyncGenerator get_return_object() {
      return AsyncGenerator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    struct Pause {
      bool await_ready() noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        Worker::here().complete(*self.promise().continuation_);
      }
      void await_resume() noexcept {}
    };
    template <class U>
      requires std::constructible_from<T, U>
    Pause yield_value(U&& element) {
      element_.emplace(std::forward<U>(element));
      return {};
    }
    void return_void() {}

   private:
    friend class AsyncGenerator;
    std::optional<T> element_;
    bool is_advancing_ = false;
  };

  AsyncGenerator(AsyncGenerator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  AsyncGenerator& operator=(AsyncGenerator&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~AsyncGenerator() {
    if (frame_ == nullptr) return;
    SENNIT_ASSERT(!frame_.promise().is_advancing_ &&
                  "an AsyncGenerator must not be destroyed while next() is waited for");
    frame_.destroy();
  }

  /// The next element; nothing at the end, and from then on. One at a time; the generator must stay
  /// where it is until it is done.
  [[nodiscard]] Task<std::optional<T>> next() {
    if (frame_.done()) co_return std::nullopt;
    promise_type& promise = frame_.promise();
    SENNIT_ASSERT(!promise.is_advancing_ && "one next() at a time");
    promise.is_advancing_ = true;
    co_await Advance(frame_);
    promise.is_advancing_ = false;
    if (promise.exception_) std::rethrow_exception(std::exchange(promise.exception_, nullptr));
    co_return std::exchange(promise.element_, std::nullopt);
  }

 private:
  /// Awaitable, in next() only: the generator has come to its next element or its end.
  class Advance {
   public:
    explicit Advance(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    bool ready() { return false; }
    bool start(Waiter& waiter) {
      Worker& worker = Worker::here();
      frame_.promise().continuation_ = &waiter;
      worker.resume(frame_, worker.activity());  // Right after next() has suspended.
      return true;
    }
    void take() {}

   private:
    std::coroutine_handle<promise_type> frame_;
  };
  explicit AsyncGenerator(std::coroutine_handle<promise_type> frame) : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::AsyncGenerator;
}
