#pragma once
// Joinable<T>: a hold on something that was spawned, for its result and for ending it.
//
//   Joinable<int> answer = scope.spawn_joinable([] { return 42; });
//   Result<int> result = wait(answer.join());      // or co_await, on any worker
//   Result<int> result = answer.get();             // on a plain thread: blocks
//   answer.cancel();
//
// What a function returns crosses to whoever joins; an exception that left it is thrown there. A
// function that returns a Result<T> is joined as one. It may be joined once, by one at a time; a
// join that was cancelled did not happen. Nobody has to join.
//
// Thread safety: join(), get(), cancel() and the rest from any thread, but each Joinable is one
// object: hand it over by moving it. cancel() needs the worker's loop still running.
// Errors of join: cancelled if who joins was; those the function returned.

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

namespace detail {

/// Who joins.
class Joiner {
 public:
  using Notify = void (*)(Joiner&);
  explicit Joiner(Notify notify) : notify_(notify) {}
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

 private:
  friend class JoinCore;
  Notify notify_;
};

/// What is shared between the activity and the one who joins, but for the result's type.
///
/// The word is null while it runs, a Joiner who waits, or `this` when it has ended:
/// 1. finish() exchanges it for `this`, and notifies the joiner if there was one. Its release pairs
///    with the acquire of is_done() and arrive(), so that who joins sees the result.
/// 2. arrive() swings null to the joiner; withdraw() swings the joiner back to null. Either fails
///    if finish() was first. The joiner is touched by finish() only if it was not withdrawn, and
///    has to stay until then.
class JoinCore {
 public:
  JoinCore(Worker& worker, ActivityId id) : worker_(worker), id_(id) {}
  JoinCore(const JoinCore&) = delete;
  JoinCore& operator=(const JoinCore&) = delete;

  [[nodiscard]] ActivityId id() const { return id_; }
  [[nodiscard]] bool is_done() const { return word_.load() == this; }
  /// Requires is_done().
  [[nodiscard]] ActivityState state() const { return state_; }

  /// False if it has ended: nobody will be notified.
  [[nodiscard]] bool arrive(Joiner& joiner);
  /// False if the joiner was, or is just being, notified.
  [[nodiscard]] bool withdraw(Joiner& joiner);
  /// Blocks a plain thread.
  void block();
  /// Any thread; `self` is this.
  void cancel(EndReason reason, std::shared_ptr<JoinCore> self);

  // --- On the worker ----------------------------------------------------------------------
  void attach(Activity& activity) { activity_ = &activity; }
  void detach() { activity_ = nullptr; }
  void finish(ActivityState state);

 protected:
  ~JoinCore() = default;

 private:
  Worker& worker_;
  const ActivityId id_;
  Activity* activity_ = nullptr;  // While it runs. Only touched on its worker.
  ActivityState state_ = ActivityState::created;
  std::atomic<void*> word_ = nullptr;
};

template <class T>
struct JoinState : JoinCore {
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  using JoinCore::JoinCore;

  AsResult<T> take() {
    if (exception) std::rethrow_exception(exception);
    SENNIT_ASSERT(value.has_value() && "joined twice");
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      Value taken = *std::move(value);
      value.reset();
      return taken;
    }
  }

  std::optional<Value> value;
  std::exception_ptr exception;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Joinable {
 public:
  class Join;
  using State = detail::JoinState<T>;
  explicit Joinable(std::shared_ptr<State> state) : state_(std::move(state)) {}

  [[nodiscard]] ActivityId id() const { return state_->id(); }
  [[nodiscard]] bool is_done() const { return state_->is_done(); }
  /// How it ended: done, cancelled, timed_out or killed. Requires is_done().
  [[nodiscard]] ActivityState end_state() const {
    SENNIT_ASSERT(is_done());
    return state_->state();
  }
  void cancel(EndReason reason = EndReason::cancelled) { state_->cancel(reason, state_); }

  /// Awaitable, AsResult<T>.
  [[nodiscard]] Join join() { return Join(state_); }
  /// The same for a plain thread, which it blocks. Stops the program on a worker.
  AsResult<T> get() {
    state_->block();
    return state_->take();
  }
  /// Spawns in `scope` what goes on with the result: `next(AsResult<T>)`, on a fiber. An exception
  /// goes past it. Returns a Joinable of what that returns.
  template <class Scope, class F>
  auto then(Scope& scope, F next) &&;

 private:
  std::shared_ptr<State> state_;
};

template <class T>
class Joinable<T>::Join : detail::Joiner {
 public:
  static constexpr const char* waits_for = "something spawned to end";

  explicit Join(std::shared_ptr<State> state) : Joiner(&Join::wake), state_(std::move(state)) {}
  Join(Join&& other) noexcept : Join(std::move(other.state_)) {}  // Before start().

  bool ready() { return state_->is_done(); }
  bool start(Waiter& waiter) {
    waiter_ = &waiter;
    is_cancelled_ = false;
    return state_->arrive(*this);
  }
  void cancel() {
    if (is_cancelled_ || !state_->withdraw(*this)) return;
    is_cancelled_ = true;
    waiter_->wake();
  }
  AsResult<T> take() {
    if (is_cancelled_) return failure(Errc::cancelled, "join");
    return state_->take();
  }

 private:
  static void wake(Joiner& self) { static_cast<Join&>(self).waiter_->wake(); }

  std::shared_ptr<State> state_;
  Waiter* waiter_ = nullptr;
  bool is_cancelled_ = false;
};

template <class T>
template <class Scope, class F>
auto Joinable<T>::then(Scope& scope, F next) && {
  return scope.spawn_joinable([before = std::move(*this), next = std::move(next)]() mutable {
    return next(wait(before.join()));
  });
}

namespace detail {
template <class T>
struct JoinedList {
  using Values = std::vector<T>;
  static void add(Values& values, Result<T>&& value) { values.push_back(*std::move(value)); }
};
template <>
struct JoinedList<void> {
  using Values = std::monostate;
  static void add(Values&, Result<void>&&) {}
};
}  // namespace detail

/// Joins all, in order, and returns their values (std::monostate for void), or the first error
/// once all have ended. The list must stay where it is meanwhile.
template <class T>
auto join_all(std::vector<Joinable<T>>& list)
    -> Task<Result<typename detail::JoinedList<typename AsResult<T>::value_type>::Values>> {
  using List = detail::JoinedList<typename AsResult<T>::value_type>;
  typename List::Values values;
  std::optional<Error> error;
  for (Joinable<T>& joinable : list) {
    AsResult<T> result = co_await joinable.join();
    if (result) {
      List::add(values, std::move(result));
    } else if (!error) {
      error = std::move(result).error();
    }
  }
  if (error) co_return failure(*std::move(error));
  co_return values;
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::Joinable;
}
