#pragma once
// Generator<T>: a function that gives a sequence, one element whenever the next is asked for.
//
//   Generator<int> digits(int n) { for (; n > 0; n /= 10) co_yield n % 10; }
//   for (int digit : digits(42)) ...
//
// It never waits (see AsyncGenerator). It runs on the stack of who asks, starts with begin(), and
// may be left before its end. An exception that leaves it is thrown to who asks.
//
// Thread safety: none; made and destroyed on one thread.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/detail/frame_slabs.hpp"

namespace sennit::runtime {

template <class T>
class [[nodiscard]] Generator {
 public:
  class promise_type {
   public:
    static void* operator new(std::size_t bytes) { return detail::FrameSlabs::allocate(bytes); }
    static void operator delete(void* frame, std::size_t) noexcept {
      detail::FrameSlabs::free(frame);
    }
    Generator get_return_object() {
      return Generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    /// The element lives in the generator until the next is asked for.
    std::suspend_always yield_value(std::remove_reference_t<T>& element) noexcept {
      element_ = std::addressof(element);
      return {};
    }
    std::suspend_always yield_value(std::remove_reference_t<T>&& element) noexcept {
      element_ = std::addressof(element);
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() { throw_later_ = std::current_exception(); }
    template <class A>
    void await_transform(A&&) = delete;  // It never waits.

   private:
    friend class Generator;
    std::remove_reference_t<T>* element_ = nullptr;
    std::exception_ptr throw_later_;
  };

  /// An input iterator.
  class Iterator {
   public:
    using value_type = std::remove_cvref_t<T>;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    std::remove_reference_t<T>& operator*() const { return *frame_.promise().element_; }
    std::remove_reference_t<T>* operator->() const { return frame_.promise().element_; }
    Iterator& operator++() {
      advance(frame_);
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return frame_.done(); }

   private:
    friend class Generator;
    explicit Iterator(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
  };

  Generator(Generator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Generator& operator=(Generator&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Generator() {
    if (frame_ != nullptr) frame_.destroy();
  }

  /// Runs up to the first element. Once.
  [[nodiscard]] Iterator begin() {
    SENNIT_ASSERT(frame_ != nullptr && frame_.promise().element_ == nullptr && !frame_.done() &&
                  "a Generator is gone through once");
    advance(frame_);
    return Iterator(frame_);
  }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  explicit Generator(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  static void advance(std::coroutine_handle<promise_type> frame) {
    SENNIT_ASSERT(!frame.done());
    frame.resume();
    if (frame.promise().throw_later_) {
      std::rethrow_exception(std::exchange(frame.promise().throw_later_, nullptr));
    }
  }

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Generator;
}
