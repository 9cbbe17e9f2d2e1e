#pragma once
// Promise<T> and Future<T>: a result that somebody else provides, once.
//
//   Promise<int> promise;
//   Future<int> future = promise.future();
//   std::thread([promise = std::move(promise)]() mutable { promise.set_value(42); }).detach();
//   Result<int> result = wait(future);                     // or co_await future
//
// Both share a state on the heap, made with the promise: either may be destroyed first. Waiting
// allocates nothing. A promise that is destroyed unset is broken: who waits gets `closed`.
//
// Thread safety: a promise and its future may be used on different threads, each on one at a time.
// Setting a promise twice, and asking twice for its future or result, stop the program.

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

namespace detail {

/// Who waits, and whether the result is there, in one word:
/// 1. It begins null. start() swings it from null to the waiter.
/// 2. finish(), once, after the result was written, swings it to `this`, which means done, and
///    wakes the waiter that it found there.
/// 3. cancel() swings it back from the waiter to null, and then wakes the waiter itself. Exactly
/// one
///    of 2 and 3 finds the waiter, so it is woken once.
class FutureWord {
 public:
  [[nodiscard]] bool is_done() const {
    // Pairs with the release of finish(): who sees `done` sees the result.
    return word_.load(std::memory_order_acquire) == this;
  }
  /// False if it is done.
  bool start(Waiter& waiter);
  /// Of a waiter that start() was given; does nothing if it is done.
  void cancel(Waiter& waiter);
  void finish();
  /// True for the second of the two that hold it.
  bool let_go();

 private:
  std::atomic<void*> word_ = nullptr;
  std::atomic<int> holders_ = 2;
};

template <class T>
struct FutureState : FutureWord {
  std::optional<Result<T>> result;
  std::exception_ptr exception;
};

}  // namespace detail

template <class T>
class Promise;

/// Awaitable: Result<T>, as often as needed until it has given one. Suspends until the promise is
/// set. Throws the exception that was set. Errors: what was set; closed, when the promise is
/// broken; cancelled, and the future can be waited for again.
template <class T>
class [[nodiscard]] Future {
 public:
  static constexpr const char* waits_for = "a future";

  Future(Future&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), waiter_(other.waiter_) {}
  Future& operator=(Future&& other) noexcept {
    if (this != &other) {
      let_go();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Future() { let_go(); }

  [[nodiscard]] bool ready() {
    SENNIT_ASSERT(state_ != nullptr && "a Future gives its result once");
    return state_->is_done();
  }
  bool start(Waiter& waiter) {
    waiter_ = &waiter;
    return state_->start(waiter);
  }
  void cancel() { state_->cancel(*waiter_); }
  Result<T> take() {
    if (!state_->is_done()) return failure(Errc::cancelled, "wait for a future");
    const auto state = std::unique_ptr<Future, LetGo>(this);
    if (state_->exception) std::rethrow_exception(state_->exception);
    return *std::move(state_->result);
  }

 private:
  friend class Promise<T>;
  struct LetGo {
    void operator()(Future* future) const { future->let_go(); }
  };
  explicit Future(detail::FutureState<T>& state) : state_(&state) {}
  void let_go() {
    auto* const state = std::exchange(state_, nullptr);
    if (state != nullptr && state->let_go()) delete state;
  }

  detail::FutureState<T>* state_;  // Null once the result was given, or moved from.
  Waiter* waiter_ = nullptr;
};

template <class T = void>
class Promise {
 public:
  Promise() : state_(new detail::FutureState<T>) {}
  Promise(Promise&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), has_future_(other.has_future_) {}
  Promise& operator=(Promise&&) = delete;
  ~Promise() {
    if (state_ == nullptr) return;
    state_->result.emplace(failure(Errc::closed, "wait for a promise that was broken"));
    finish();
  }

  /// Once.
  [[nodiscard]] Future<T> future() {
    SENNIT_ASSERT(state_ != nullptr && !has_future_ && "a Promise has one Future");
    has_future_ = true;
    return Future<T>(*state_);
  }

  /// One of these, once.
  template <class... U>
    requires std::constructible_from<Result<T>, std::in_place_t, U...>
  void set_value(U&&... value) {
    unset().result.emplace(std::in_place, std::forward<U>(value)...);
    finish();
  }
  void set_error(Error error) {
    unset().result.emplace(failure(std::move(error)));
    finish();
  }
  void set_exception(std::exception_ptr exception) {
    unset().exception = std::move(exception);
    finish();
  }

 private:
  detail::FutureState<T>& unset() {
    SENNIT_ASSERT(state_ != nullptr && "a Promise is set once");
    return *state_;
  }
  void finish() {
    auto* const state = std::exchange(state_, nullptr);
    state->finish();
    if (!has_future_) state->let_go();
    if (state->let_go()) delete state;
  }

  detail::FutureState<T>* state_;  // Null once set, or moved from.
  bool has_future_ = false;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Future;
using runtime::Promise;
}  // namespace sennit
